//go:build !unix

package cli_test

func terminalForTests() { panic("there is no terminal to give: the scripts that need one are skipped") }
