// Command releasefiles writes the files of a release except the program: manual pages and completions.
//
//	go run ./internal/releasefiles DIR
//
// makes DIR/man/*.1 and DIR/completions/millrace.{bash,zsh,fish,ps1}.
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: releasefiles DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "releasefiles:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	err := cli.ManPages(func(name, page string) error {
		return os.WriteFile(filepath.Join(man, name), []byte(page), 0o644)
	})
	if err != nil {
		return err
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var script bytes.Buffer
		a := &cli.App{Stdout: &script, Stderr: io.Discard, Getenv: func(string) string { return "" }}
		if status := a.Run(context.Background(), []string{"completion", shell}); status != 0 {
			return fmt.Errorf("the completion for %s: exit status %d", shell, status)
		}
		if err := os.WriteFile(filepath.Join(completions,
			"millrace."+
				cmp.Or(map[string]string{"powershell": "ps1"}[shell], shell)), script.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
