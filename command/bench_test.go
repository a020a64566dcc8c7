package command_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/command"
)

// BenchmarkOutput reads output of a command: lines of a log, with and without secrets to look for.
func BenchmarkOutput(b *testing.B) {
	text := strings.Repeat("2026-11-22T17:15:35Z a line of a log that says nothing of note\n", 512)
	for _, secrets := range []int{0, 1, 5} {
		b.Run(strconv.Itoa(secrets)+" secrets", func(b *testing.B) {
			p := command.Policy{Allow: []string{"x"}, MaxPrinted: 1 << 50, Secrets: make(map[string]string)}
			for i := range secrets {
				p.Secrets["S"+strconv.Itoa(i)] = strconv.Itoa(i) + "a-secret-of-the-host"
			}
			b.SetBytes(int64(len(text)))
			p.Runner = runs(func(_ context.Context, c command.Command) (command.Exit, error) {
				for b.Loop() {
					c.OnOutput("stdout", text)
				}
				return command.Exit{}, nil
			})
			if _, err := p.Run(b.Context(), command.Command{Words: []string{"x"}}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
