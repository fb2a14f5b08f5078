# Completion of dapple for fish: verbs, then flags of the verb, which the program lists, and files.
function __dapple_verb
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end
complete -c dapple -n 'test -z (__dapple_verb)' -f -a '(dapple --complete 2>/dev/null)'
complete -c dapple -n 'test (__dapple_verb) = help' -f \
    -a '(dapple --complete 2>/dev/null; dapple help --complete 2>/dev/null)'
complete -c dapple -n 'test -n (__dapple_verb); and string match -q -- "-*" (commandline -ct)' \
    -a '(dapple (__dapple_verb) --complete 2>/dev/null)'
