dapple convert irregular.dbdf a.dbdf --value-type f32 && dapple info a.dbdf --json | grep -o "\"value_type\":\"...\""
