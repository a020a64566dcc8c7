// Command millrace changes many files as one, from the command line.
package main

import (
	"os"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

func main() { os.Exit(cli.Main()) }
