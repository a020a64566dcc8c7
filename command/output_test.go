package command_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/errorform"
)

// TestKept: of each stream the first quarter and the last three quarters are kept, without cutting a rune in two.
func TestKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"0123456789", "é", "世", "a世🙂", "x"}).Draw(t, "unit")
		text := strings.Repeat(unit, rapid.IntRange(0, 60).Draw(t, "times"))
		most := rapid.Int64Range(1, 80).Draw(t, "most")
		policy := elsewhere(func(context.Context, command.Command) (command.Exit, error) {
			return command.Exit{Stderr: command.Output{Text: text}}, nil
		})
		exit, err := policy.Run(context.Background(), command.Command{Words: []string{"x"}, MaxOutput: most})
		if err != nil {
			t.Fatal(err)
		}
		got := exit.Stderr
		if got.Size != int64(len(text)) || got.Truncated != (int64(len(text)) > most) || exit.Stdout != (command.Output{}) {
			t.Fatalf("%+v of %d bytes", got, len(text))
		}
		want := text
		if got.Truncated {
			head, tail := text[:most/4], text[int64(len(text))-(most-most/4):]
			for len(head) > 0 && !utf8.ValidString(head) {
				head = head[:len(head)-1]
			}
			for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
				tail = tail[1:]
			}
			want = head + tail
		}
		if got.Text != want {
			t.Fatalf("kept %q\nwant %q", got.Text, want)
		}
	})
}

// TestKeptOfMuch: the same, for the output of a process.
func TestKeptOfMuch(t *testing.T) {
	t.Parallel()
	p := acting(t)
	p.MaxOutput = 4000
	exit := run(t, p, script("echo first; i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done; echo last; echo bad >&2"))
	out := exit.Stdout
	if !strings.HasPrefix(out.Text, "first\n0\n1\n") || !strings.HasSuffix(out.Text, "19999\nlast\n") || len(out.Text) != 4000 || !out.Truncated {
		t.Errorf("%d bytes, %.20q … %q", len(out.Text), out.Text, out.Text[len(out.Text)-20:])
	}
	if diff := cmp.Diff(command.Output{Text: "bad\n", Size: 4}, exit.Stderr); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, tt := range []struct{ policy, command, want int64 }{{0, 0, 1 << 20}, {0, 1 << 30, 1 << 20}, {2 << 20, 0, 1 << 20}, {2 << 20, 1 << 30, 2 << 20}, {5, 0, 5}, {5, 3, 3}} {
		p.MaxOutput = tt.policy
		c := an(t, "print", "3000000", "x")
		c.MaxOutput = tt.command
		if exit := run(t, p, c); int64(len(exit.Stdout.Text)) != tt.want || exit.Stdout.Size != 3_000_000 {
			t.Errorf("%d of %d bytes are kept with %+v", len(exit.Stdout.Text), exit.Stdout.Size, tt)
		}
	}
}

// TestPrintsForEver: a command that prints too much is killed, on either stream.
func TestPrintsForEver(t *testing.T) {
	t.Parallel()
	for _, c := range []command.Command{
		an(t, "print", "1000000000", "all work and no play\n"),
		script("while :; do echo out; echo err >&2; done"),
		script("trap '' TERM; while :; do echo err; done >&2"),
	} {
		p := acting(t)
		p.MaxPrinted = 100_000
		p.MaxOutput = 1000
		exit, err := p.Run(t.Context(), c)
		over, ok := errors.AsType[interface {
			error
			Printed() (limit, got int64)
			Retryable() bool
		}](err)
		if !ok || over.Retryable() || errorform.Code(err) != "limit" {
			t.Fatalf("%v", err)
		}
		limit, got := over.Printed()
		want := fmt.Sprintf("the command was killed: %d printed bytes, and the limit is 100000", got)
		if err.Error() != want || limit != 100_000 || got <= 100_000 {
			t.Errorf("%v, want %s", err, want)
		}
		if len(exit.Stdout.Text) > 1000 || len(exit.Stderr.Text) > 1000 || exit.Code != -1 {
			t.Errorf("%d and %d bytes are kept, code %d", len(exit.Stdout.Text), len(exit.Stderr.Text), exit.Code)
		}
		if exit.Stdout.Size+exit.Stderr.Size < 100_000 {
			t.Errorf("%d and %d bytes were printed", exit.Stdout.Size, exit.Stderr.Size)
		}
	}
	// Exactly the limit is not too much.
	p := acting(t)
	p.MaxPrinted = 100_000
	if exit := run(t, p, script("head -c 100000 /dev/zero")); exit.Code != 0 || exit.Stdout.Size != 100_000 {
		t.Errorf("%d, %d bytes", exit.Code, exit.Stdout.Size)
	}
}

// TestOnOutput: reported output is valid UTF-8 in consecutive pieces, and complete.
func TestOnOutput(t *testing.T) {
	t.Parallel()
	p := acting(t)
	p.Secrets = map[string]string{"S": "hidden-value"}
	told := map[string]*strings.Builder{"stdout": {}, "stderr": {}}
	var busy atomic.Bool
	c := script(`printf 'hid'; sleep 0.05; printf 'den-val'; sleep 0.05; printf 'ue \303'; sleep 0.05; printf '\251\377\n'; echo error >&2; ` +
		`i=0; while [ $i -lt 3000 ]; do echo '世界世界世界世界世界世界世界世界世界世界'; i=$((i+1)); done`)
	c.OnOutput = func(stream, text string) {
		if !busy.CompareAndSwap(false, true) {
			t.Error("OnOutput is called twice at once")
		}
		if len(text) > 32<<10 || text == "" || !utf8.ValidString(text) {
			t.Errorf("a piece of %d bytes: %.20q", len(text), text)
		}
		told[stream].WriteString(text)
		busy.Store(false)
	}
	exit := run(t, p, c)
	want := "*** é\uFFFD\n" + strings.Repeat("世界世界世界世界世界世界世界世界世界世界\n", 3000)
	if told["stdout"].String() != want || told["stderr"].String() != "error\n" || exit.Stdout.Text != want {
		t.Errorf("told %.60q and %q, kept %.60q", told["stdout"], told["stderr"], exit.Stdout.Text)
	}

	both := script("(i=0; while [ $i -lt 2000 ]; do echo err >&2; i=$((i+1)); done) & i=0; while [ $i -lt 2000 ]; do echo out; i=$((i+1)); done; wait")
	both.OnOutput = func(string, string) {
		if !busy.CompareAndSwap(false, true) {
			t.Error("OnOutput is called twice at once")
		}
		runtime.Gosched()
		busy.Store(false)
	}
	run(t, p, both)

	c.OnOutput = func(string, string) { panic("no room") }
	exit, err := p.Run(t.Context(), c)
	if err == nil || err.Error() != "the host's OnOutput failed: panic: no room" || exit.Code != -1 {
		t.Errorf("a panic came as %v, %d", err, exit.Code)
	}
}

// TestStdin: a command can read all of its input; Run does not wait for a command that does not read.
func TestStdin(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line of input\n", 20_000)
	p := acting(t)
	for _, tt := range []struct {
		c    command.Command
		want int64
	}{
		{an(t, "cat"), int64(len(text))}, {an(t, "exit", "3"), 0}, {script("exec <&-; exit 3"), 0},
		{script("head -c 10"), 10},
	} {
		tt.c.Stdin = text
		if exit := run(t, p, tt.c); exit.Stdout.Size != tt.want || exit.Code != 0 && exit.Code != 3 {
			t.Errorf("%q printed %d bytes and ended with %d", tt.c.Words, exit.Stdout.Size, exit.Code)
		}
	}
	if exit := run(t, p, an(t, "cat")); exit.Code != 0 || exit.Stdout.Size != 0 {
		t.Errorf("without input: %+v", exit)
	}
}

// TestTooLong: the error names the way for long lists.
func TestTooLong(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows cuts arguments elsewhere")
	}
	p := acting(t)
	for name, words := range map[string][]string{
		"one":  {"echo", strings.Repeat("x", 8<<20)},
		"many": append([]string{"echo"}, strings.Split(strings.Repeat("a word among many|", 1<<18), "|")...),
	} {
		_, err := p.Run(t.Context(), an(t, words...))
		if !errors.Is(err, syscall.E2BIG) || !strings.Contains(err.Error(), "hand long lists over by stdin") || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
