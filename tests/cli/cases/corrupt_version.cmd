dapple info version.dbdf
