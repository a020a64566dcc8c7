//go:build !unix

package cli_test

func terminalForTests() {
	panic("this system has no terminal: the scripts that need a terminal are skipped")
}
