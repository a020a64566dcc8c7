// Package archtest has no code, only tests of rules that the compiler does not check: which package may import which,
// and what no source file may have (init functions, package variables that change, more than 400 lines).
package archtest
