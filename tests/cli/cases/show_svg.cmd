dapple show mixed.dbdf --what kind -o "a <b>.svg" --size 300x250 && sed "s/base64,[^\"]*/base64,.../" "a <b>.svg"
