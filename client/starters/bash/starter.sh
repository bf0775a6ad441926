#!/usr/bin/env bash
# A starter bot for insertion that needs Bash 5 alone. Replace `choose`; the rest can stay as it is.

# Set `move` to a number from 1 to 15. At hand: seat, board (the start: rows from the top, joined by `/`), pictures
# (all that were shown so far; ${pictures:${#moves[@]}:1} is to be inserted now), moves (all plies so far) and
# clock (ms left to this seat).
choose() {
    move=$((6 + ${#moves[@]} % 5)) # drops into the five columns in turn
}

trap '' PIPE # a cut connection is seen by reading
export LC_ALL=C TZ=UTC
resume='' known='' tries=0 # the key of the last WELCOME; connections since then

debug() {
    [[ ${ARENA_DEBUG-} == 1 ]] || return 0
    local now=$EPOCHREALTIME
    printf '%(%H:%M:%S)T.%s %s %s\n' "${now%.*}" "${now:(-6):3}" "$1" "$2" >&2
}

send() {
    debug '>' "$1"
    printf '%s\n' "$1" >&3 2>&4
}

# Set `value` to that of the option $1 of the line $2, empty if it is not there.
option() {
    value=''
    [[ " $2 " == *" $1="* ]] && value=${2#*" $1="} && value=${value%% *}
}

# Play on one connection, which is descriptor 3; `last` is the line that ended it, empty if it was cut.
converse() {
    local line verb word greeted='' welcomed='' key clocks
    last=''
    while IFS= read -r line <&3; do
        line=${line%$'\r'}
        debug '<' "$line"
        verb=${line%% *} word=${line#* } word=${word%% *}
        case $verb in ZOMBIE | OVER | ERROR | BYE) printf '%s\n' "$line" ;; esac
        if [[ $verb == ARENA && $word == 1 ]]; then
            greeted=1 key=''
            if [[ $resume ]]; then key=" resume=$resume"; elif [[ ${ARENA_TOKEN-} ]]; then key=" token=$ARENA_TOKEN"; fi
            send "HELLO 1 $name games=insertion agent=bash-starter/1${ARENA_SLOT:+ slot=$ARENA_SLOT}${ARENA_CONTEST:+ contest=$ARENA_CONTEST}$key"
        elif [[ $verb == BYE || ($verb == ERROR && ! $welcomed) ]]; then
            last=$line
            return
        elif [[ $verb && ! $greeted ]]; then
            echo "this is no server of version 1 of the arena protocol: ${line:0:80}" >&2
            exit 1
        else
            case $verb in
            WELCOME) welcomed=1 known=1 tries=0 && option resume "$line" && resume=$value ;;
            PING) send "PONG $word" ;;
            GAME)
                moves=() pictures='' board=''
                option seat "$line"
                seat=$value
                send "READY $word" # warm up before this line: no clock runs yet
                ;;
            STATE) board=$word ;;
            NEXT) pictures=$word ;;
            PLAYED)
                option move "$line"
                moves+=("$value")
                option reveal "$line"
                pictures+=$value
                ;;
            TURN)
                option clock "$line"
                IFS=, read -ra clocks <<<"$value"
                clock=${clocks[seat - 1]}
                choose
                send "MOVE $move"
                ;;
            esac
        fi
    done
}

if [[ ${ARENA_HOST-} ]]; then set -- "$ARENA_HOST" "${ARENA_PORT-}" "${ARENA_NAME-}"; fi
host=${1-} port=${2-${ARENA_PORT-}} name=${3-${ARENA_NAME-}}
if [[ ! $host || ! $port || ! $name ]]; then
    echo 'usage: starter.sh HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set' >&2
    exit 1
fi
exec 4>/dev/null # where complaints of Bash about a cut connection go
while ((tries < 12)); do
    pause=$((100 << tries)) resuming=$resume last=''
    ((pause > 5000)) && pause=5000
    tries=$((tries + 1))
    if { exec 3<>"/dev/tcp/$host/$port"; } 2>&4; then
        converse
        exec 3>&-
    fi
    if [[ $last == BYE* && $last != *reason=slow* ]]; then
        option again "$last"
        [[ ! $value || ${ARENA_CONTEST-} ]] && exit 0
        pause=$value resume='' known='' tries=0 # another contest may follow, which knows no key of this one
    fi
    if [[ $last == ERROR* ]]; then
        code=${last#ERROR } code=${code%% *}
        if [[ $code == token && $resuming ]]; then
            resume='' # spent or forgotten: log in by name and token
        elif [[ $code != full && $code != rate && ! ($known && $code == name-taken) ]]; then
            exit 1
        fi
        option retry_after "$last"
        ((${value:-0} > pause)) && pause=$value
    fi
    sleep "$((pause / 1000)).$(printf %03d $((pause % 1000)))"
done
echo "gave up on $host:$port" >&2
exit 1
