# What zsh offers for command lines: offered.zsh DIRECTORY LINE..., with `_fwdlab` in DIRECTORY.
# Prints `== LINE`, the words offered, and `:: ` with the line as it stands then.
# A zsh of its own with a terminal of its own presses the key; `compadd` says what it is given.
zmodload zsh/zpty || exit 3
here=$1; shift
zpty shell zsh -f -i
zpty -w shell "stty -echo; PS1=; cd $here; fpath=($here \$fpath); export PATH=$here/bin:\$PATH"
zpty -w shell "out=$here/words; autoload -Uz compinit; compinit -u -d $here/dump"
zpty -w shell 'compadd() {
  [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
  local -a words; builtin compadd -A words "$@"
  (( $#words )) && print -rl -- $words >> $out
  builtin compadd "$@"
}
pressed() { zle complete-word; print -r -- ":: $BUFFER" >> $out; zle kill-buffer; print "that is ""all" }
zle -N pressed; bindkey "^I" pressed; setopt no_auto_menu; LISTMAX=1000
print "rea""dy"'
zpty -r shell told '*ready*'
for line in "$@"; do
  : > $here/words
  zpty -w -n shell "$line"$'\t'
  zpty -r shell told '*that is all*'
  print -r -- "== $line"
  cat $here/words
done
zpty -d shell
