#!/bin/sh
# start_board.sh FOLDER COMMAND...: ends the board that ran before, starts COMMAND, which prints the name of its port, and
# makes FOLDER/port that port.
folder=$1
shift
[ -f "$folder/pid" ] && kill "$(cat "$folder/pid")" 2>/dev/null
# What the board before said is gone before anybody looks.
: >"$folder/said"
"$@" >>"$folder/said" 2>&1 </dev/null &
echo $! >"$folder/pid"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    port=$(grep -o '/dev/pts/[0-9]*' "$folder/said")
    [ -n "$port" ] && ln -sfn "$port" "$folder/port" && exit 0
    sleep 0.2
done
cat "$folder/said" >&2
exit 1
