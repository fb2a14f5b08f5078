# Completion of dapple for bash: verbs, then flags of the verb, which the program lists, and files.
_dapple() {
  local current=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=
  if ((COMP_CWORD == 1)) || [[ $verb == help ]]; then
    words=$(dapple --complete 2>/dev/null)
    ((COMP_CWORD > 1)) && words+=" $(dapple help --complete 2>/dev/null)"
  elif [[ $current == -* ]]; then
    words=$(dapple "$verb" --complete 2>/dev/null)
  fi
  COMPREPLY=()
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
complete -o bashdefault -o default -F _dapple dapple
