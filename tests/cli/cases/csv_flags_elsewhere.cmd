for flag in --header --no-header '--delimiter ;' '--missing nan' --drop-unsupported; do
  dapple info irregular.dbdf $flag
  echo $?
done
