#!/usr/bin/env bash
# Starts a connector, waits until it answers, grades it, and stops it. It leaves the
# reports in a folder, and tells the following steps of action.yml the verdict. It ends
# with 0 when the program has graded, whatever the verdict, and with 2 when nothing
# could be graded: the last step of action.yml fails by the verdict.
#
# The inputs are the variables INPUT_*; CONFORM is the program, if it is built already.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/conformance.XXXXXX")
output=${GITHUB_OUTPUT:-$work/output}
summary=${GITHUB_STEP_SUMMARY:-$work/summary}
url=${INPUT_URL%/}

group=
stop() { # the command, and what it has started; not longer than ten seconds
	[ -n "$group" ] || return 0
	kill -TERM -- "-$group" 2>/dev/null || return 0
	for _ in $(seq 100); do
		kill -0 -- "-$group" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -KILL -- "-$group" 2>/dev/null || true
}
trap stop EXIT

fail() {
	echo "exit=2" >>"$output"
	echo "::error::$*"
	[ ! -f "$work/connector.log" ] || tail -n 50 "$work/connector.log"
	exit 2
}

if [ -z "${INPUT_TOKEN:-}" ]; then
	INPUT_TOKEN=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
fi
echo "::add-mask::$INPUT_TOKEN"
export PLATFORM_CONNECTOR_TOKEN=$INPUT_TOKEN

if [ -z "${CONFORM:-}" ]; then # of the version at which the action is used
	CONFORM=$work/conform
	(cd "$here/../../.." && go build -o "$CONFORM" ./conformance/cmd/conform) || fail "the conformance program does not build"
fi

if [ -n "${INPUT_COMMAND:-}" ]; then
	set -m # a process group of its own
	bash -c "$INPUT_COMMAND" >"$work/connector.log" 2>&1 &
	group=$!
	set +m
fi
# The document needs no token, and every connector in any language has it.
deadline=$((SECONDS + ${INPUT_WAIT:-300}))
until curl -fsS -o /dev/null --max-time 5 "$url/.well-known/service/platform.json" 2>"$work/curl"; do
	[ -z "$group" ] || kill -0 "$group" 2>/dev/null || fail "the command ended before the connector answered: $INPUT_COMMAND"
	[ $SECONDS -lt $deadline ] || fail "no connector answers at $url: $(cat "$work/curl")"
	sleep 0.2
done

reports=$work/reports
mkdir "$reports"
[ -z "${INPUT_CREDENTIALS:-}" ] || export CONNECTOR_CREDENTIALS=$INPUT_CREDENTIALS
code=0
# The flags are split at blanks, as those of a shell are.
# shellcheck disable=SC2086
"$CONFORM" -mode "${INPUT_MODE:-live}" ${INPUT_FLAGS:-} -report "$reports/conformance.xml" -report "$reports/conformance.html" \
	-report "$reports/conformance.json" "$url" >"$reports/conformance.txt" 2>"$work/progress" || code=$?
cat "$reports/conformance.txt"
[ -s "$reports/conformance.txt" ] || fail "nothing was graded: $(tail -n 5 "$work/progress")"

# The verdict may be broken into lines; it begins in capitals, and is the last thing that is said.
verdict=$(tac "$reports/conformance.txt" | sed '/^[0-9]* checks: /,$d' | tac | tr '\n' ' ' | sed 's/ *$//')
{
	echo "verdict=$verdict"
	echo "exit=$code"
	echo "reports=$reports"
} >>"$output"
{
	echo "### ${verdict:-no verdict}"
	echo
	echo '```text'
	# A report quotes answers: a line of backticks would end the block.
	sed 's/```/` ` `/g' "$reports/conformance.txt" | head -c 60000
	echo '```'
} >"$reports/verdict.md"
cat "$reports/verdict.md" >>"$summary"
