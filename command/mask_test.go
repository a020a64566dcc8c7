package command_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/command"
)

func hiding(values ...string) command.Policy {
	p := elsewhere(nil)
	p.Secrets = make(map[string]string)
	for i, v := range values {
		p.Secrets["S"+strconv.Itoa(i)] = v
	}
	return p
}

func TestMask(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		secrets []string
		text    string
		want    string
	}{
		{"none", nil, "a token", "a token"},
		{"one", []string{"token"}, "a token, tokens", "a ***, ***s"},
		{"only that", []string{"token"}, "token", "***"},
		{"beginnings of it", []string{"token"}, "tok toke tokee", "tok toke tokee"},
		{"two in a row", []string{"token"}, "tokentoken", "******"},
		{"too short", []string{"abc", ""}, "abc", "abc"},
		{"four bytes", []string{"abcd"}, "xabcdx", "x***x"},
		{"one in another", []string{"token", "my-token-long"}, "my-token-long token", "*** ***"},
		{"one begins another", []string{"token", "token-long"}, "token-longer token-", "***er ***-"},
		{"overlapping", []string{"abcdef", "defghi"}, "xabcdefghix", "x***x"},
		{"overlapping itself", []string{"abab"}, "xabababx", "x***x"},
		{"after a false start", []string{"aaab"}, "aaaaab", "aa***"},
		{"blanks around it", []string{" token\n"}, "a token!", "a ***!"},
		{"nothing but blanks", []string{"     "}, "a     b", "a***b"},
		{"several lines", []string{"first line\nsecond line\r\nend\n"}, "second line, end\nfirst line\nsecond line\r\nend\n", "***, end\n***\n"},
		{"not UTF-8", []string{"\xff\xfe\xfd\xfc"}, "a\xff\xfe\xfd\xfcb", "a***b"},
		{"in a rune", []string{"\xa9tok"}, "é", "é"},
		{"in JSON", []string{"a\"b\\<c>\n"}, `{"x": "a\"b\\<c>\n", "y": "a\"b\\\u003cc\u003e"}`, `{"x": "***\n", "y": "***"}`},
		{"stars", []string{"****"}, "*****", "***"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, hiding(tt.secrets...).Mask(tt.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// plainMask is Mask in a slow and simple way.
func plainMask(secrets []string, text string) string {
	hidden := make([]int, len(text)) // 1 begins a secret, 2 goes on
	for i := range len(text) {
		for _, s := range secrets {
			if !strings.HasPrefix(text[i:], s) {
				continue
			}
			for j := range len(s) {
				hidden[i+j] = max(hidden[i+j], 2)
			}
		}
	}
	// A secret that begins where no other secret continues is a new ***.
	var b strings.Builder
	end := 0
	for i := range len(text) {
		longest := 0
		for _, s := range secrets {
			if strings.HasPrefix(text[i:], s) {
				longest = max(longest, len(s))
			}
		}
		if longest > 0 && i >= end {
			b.WriteString("***")
		}
		if longest > 0 {
			end = max(end, i+longest)
		}
		if hidden[i] == 0 {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// TestMaskInPieces: for any pieces of a text, the reported and the kept text are the text with secrets masked.
func TestMaskInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{4,7}|é[ab]{2}é`), 0, 3, rapid.ID).Draw(t, "secrets")
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "abab", "é", "\xc3", "\xa9", "aaaa", "bbb", " ", "\xff", "世"}), 0, 30).
			Draw(t, "pieces")
		text := strings.Join(pieces, "")
		p := hiding(secrets...)
		p.Runner = runs(func(_ context.Context, c command.Command) (command.Exit, error) {
			for _, piece := range pieces {
				c.OnOutput("stdout", piece)
			}
			return command.Exit{Stdout: command.Output{Text: text}}, nil
		})
		var told strings.Builder
		exit, err := p.Run(context.Background(), command.Command{Words: []string{"x"}, OnOutput: func(_, s string) {
			if !utf8.ValidString(s) {
				t.Errorf("%q was reported", s)
			}
			told.WriteString(s)
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := string([]rune(plainMask(secrets, text))) // U+FFFD for each byte that is not UTF-8
		if told.String() != want || exit.Stdout.Text != want {
			t.Fatalf("%q of %q\n told %q\n kept %q\n want %q", secrets, text, told.String(), exit.Stdout.Text, want)
		}
		if got := p.Mask(text); got != plainMask(secrets, text) {
			t.Fatalf("%q of %q is %q", secrets, text, got)
		}
	})
}

// TestMaskAcrossTheCut: a secret at the place where the middle of the output is left out is not shown, not even in
// part.
func TestMaskAcrossTheCut(t *testing.T) {
	t.Parallel()
	const secret = "S3CR3T-VALUE"
	for at := range 200 {
		text := strings.Repeat(".", at) + secret + strings.Repeat(".", 200-at)
		p := hiding(secret)
		p.Runner = runs(func(context.Context, command.Command) (command.Exit, error) {
			return command.Exit{Stdout: command.Output{Text: text}}, nil
		})
		exit := run(t, p, command.Command{Words: []string{"x"}, MaxOutput: 40})
		if strings.ContainsAny(exit.Stdout.Text, "S3CRTVALUE-") || len(exit.Stdout.Text) != 40 || !exit.Stdout.Truncated {
			t.Fatalf("at %d: %+v", at, exit.Stdout)
		}
	}
	// Two halves of a secret become adjacent.
	text := "1234S3CR3T" + strings.Repeat(".", 100) + "-VALUE" + strings.Repeat("5", 24)
	p := hiding(secret)
	p.Runner = runs(func(context.Context, command.Command) (command.Exit, error) {
		return command.Exit{Stdout: command.Output{Text: text}}, nil
	})
	want := command.Output{Text: "1234***" + strings.Repeat("5", 24), Size: int64(len(text)), Truncated: true}
	if diff := cmp.Diff(want, run(t, p, command.Command{Words: []string{"x"}, MaxOutput: 40}).Stdout); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSecretsInErrors: errors of the host's functions are masked as well.
func TestSecretsInErrors(t *testing.T) {
	t.Parallel()
	const secret = "S3CR3T-VALUE"
	shows := errors.New("it is " + secret)
	plain := errors.New("it is not told")
	for name, change := range map[string]func(p *command.Policy){
		"runner":       func(p *command.Policy) { p.Runner = runs(failing(shows)) },
		"runner panic": func(p *command.Policy) { p.Runner = runs(panicking(secret)) },
		"check":        func(p *command.Policy) { p.Check = func(context.Context, command.Command) error { return shows } },
		"check panic":  func(p *command.Policy) { p.Check = func(context.Context, command.Command) error { panic(shows) } },
		"env":          func(p *command.Policy) { p.EnvFor = func(context.Context) map[string]string { panic(shows) } },
		"words":        func(p *command.Policy) { p.Allow = []string{"y"} },
		"hint":         func(p *command.Policy) { p.Allow = []string{"y " + secret} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := hiding(secret)
			p.Runner = runs(failing(nil))
			change(&p)
			_, err := p.Run(t.Context(), command.Command{Words: []string{secret}})
			text := ""
			for e := err; e != nil; e = errors.Unwrap(e) {
				text += e.Error() + "\n"
				var denied *command.DeniedError
				if errors.As(e, &denied) {
					text += denied.Command + denied.Reason + denied.Hint
				}
			}
			if err == nil || strings.Contains(text, secret) {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
	p := hiding(secret)
	p.Runner = runs(failing(plain))
	if _, err := p.Run(t.Context(), command.Command{Words: []string{"x"}}); !errors.Is(err, plain) {
		t.Errorf("an error without secrets came as %v", err)
	}
}

func failing(err error) runs {
	return func(context.Context, command.Command) (command.Exit, error) { return command.Exit{}, err }
}

func panicking(with any) runs {
	return func(context.Context, command.Command) (command.Exit, error) { panic(with) }
}

// TestMaskAtOnce: several goroutines use one policy.
func TestMaskAtOnce(t *testing.T) {
	t.Parallel()
	p := hiding("token", "another")
	mask := p.Masker()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := p.Mask("token another") + mask("a token"); got != "*** ***a ***" {
				t.Error(got)
			}
		})
	}
	wg.Wait()
}

// TestPolicyIsPrinted: a policy, and a value that contains one, is printed without secrets.
func TestPolicyIsPrinted(t *testing.T) {
	t.Parallel()
	const secret = "S3CR3T-VALUE"
	p := hiding(secret)
	p.Runner, p.MaxOutput = nil, 4711
	holder := struct {
		Commands command.Policy
		Pointer  *command.Policy
	}{p, &p}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{p, &p, holder, []command.Policy{p}} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, secret) || !strings.Contains(text, "4711") && format != "%q" {
				t.Errorf("%s of %T: %s", format, value, text)
			}
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("it runs", "policy", p, "host", holder)
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, "4711") {
		t.Error(text)
	}
	if p.Secrets["S0"] != secret {
		t.Error("printing has changed the policy")
	}
}
