dapple convert irregular.dbdf a.dbdf --no-narrow --plain && dapple blocks a.dbdf
