#!/bin/sh
# The smallest simulator that Redoubt can ask: two states, two actions, no signals.
#
#     redoubt estimate --simulator "sh examples/simulator.sh" --samples 100 -o coin.json
#
# Action 1 goes to state 1 seven times out of ten, action 0 three times; state 1 pays one.
# docs/sampling.md describes the lines.

field() { # number of a key: everything up to the key, then everything from the comma or brace on
  value=${line#*\""$1"\": }
  echo "${value%%[,\}]*}"
}

read -r greeting
echo '{"states": 2, "actions": 2, "horizon": 5}'
while read -r line; do
  dice=$(($(field seed) % 10)) # 0..9, the same whenever this query is asked
  if [ "$(field action)" = 1 ]; then limit=7; else limit=3; fi
  if [ "$dice" -lt "$limit" ]; then next=1; else next=0; fi
  echo "{\"id\": $(field id), \"next\": $next, \"reward\": $(field state)}"
done
