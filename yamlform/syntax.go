package yamlform

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace"
)

// syntaxProblem returns the problem of a text that the parser refuses, because of its depth if deep.
func syntaxProblem(err error, data []byte, deep bool) *millrace.Problem {
	broken, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		if all, several := errors.AsType[*yaml.LoadErrors](err); several && len(all.Errors) > 0 {
			broken, ok = all.Errors[0], true
		}
	}
	if !ok {
		return wrongText(codeSyntax, 0, 0, shown(err.Error()), "")
	}
	line, column := broken.Mark.Line, broken.Mark.Column
	message, code := cmp.Or(broken.Message, "it cannot be parsed"), codeSyntax
	if alias := aliasAt(lineOf(data, line), column); alias != "" && broken.Stage == yaml.ComposerStage {
		return wrongText(codeAlias, line, column, "an alias is not taken: '"+shown(alias)+"'",
			"text that begins with * is written in quotes")
	}
	switch {
	case deep:
		code = codeTooDeep
	case broken.ContextMsg != "" && broken.ContextMark.Line > 0 && broken.ContextMark.Line != line:
		message = fmt.Sprintf("%s that begins in line %d: %s", broken.ContextMsg, broken.ContextMark.Line, message)
	case broken.ContextMsg != "":
		message = broken.ContextMsg + ": " + message
	}
	return wrongText(code, line, column, message, hintAt(data, broken))
}

// hintAt guesses the most common mistake for a line that the parser refuses. It uses the text at the position of the
// error, because the messages of the parser may change.
func hintAt(data []byte, broken *yaml.LoadError) string {
	line, context := lineOf(data, broken.Mark.Line), lineOf(data, broken.ContextMark.Line)
	before, at := cut(line, broken.Mark.Column)
	_, opening := cut(context, broken.ContextMark.Column)
	isScanned := broken.Stage == yaml.ScannerStage
	isQuoted := isScanned && strings.HasPrefix(opening, `"`)
	switch {
	case begins(line, "{{") || begins(context, "{{"):
		return `a value that begins with {{ is written in quotes: "{{find.files}}"`
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "indent with spaces, not tabs"
	case begins(line, "@"), begins(line, "`"), begins(line, "%"):
		return "text that begins with @, ` or % is written in quotes"
	case isScanned && broken.ContextMsg == "" && strings.HasPrefix(at, ":"):
		return `text with ": " in it is written in quotes`
	case isQuoted && strings.HasSuffix(before, `\u`) && isHalf(at):
		return "write the character itself, not two halves of it"
	case isQuoted && strings.HasPrefix(at, `\`):
		return `within "..." a backslash is written twice; within '...' and below | it stands for itself`
	case !isQuoted && strings.ContainsAny(line, `"'`):
		return "nothing may follow the closing quote; text that begins with a quote is written in quotes as a whole"
	}
	return ""
}

// isHalf reports whether the four digits of an escape are a surrogate, half of a character.
func isHalf(digits string) bool {
	n, err := strconv.ParseUint(digits[:min(4, len(digits))], 16, 32)
	return err == nil && utf16.IsSurrogate(rune(n))
}

// cut splits a line at a column, counted in characters from 1.
func cut(line string, column int) (before, at string) {
	for i := range line {
		if column--; column == 0 {
			return line[:i], line[i:]
		}
	}
	return line, ""
}

// begins reports whether a value of the line starts with a mark.
func begins(line, mark string) bool {
	trimmed := strings.TrimLeft(line, " \t-")
	return strings.HasPrefix(trimmed, mark) || strings.Contains(line, ": "+mark) || strings.Contains(line, "- "+mark)
}

// lineOf returns a line of the text, counted from 1, without its line end; "" past the last line.
func lineOf(data []byte, number int) string {
	for ; number > 1; number-- {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return ""
		}
		data = data[i+1:]
	}
	if number < 1 {
		return ""
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	return string(line)
}

// aliasAt returns the alias that starts at a column of the line, counted in characters from 1, with its mark; "" if
// there is none.
func aliasAt(line string, column int) string {
	_, at := cut(line, column)
	if !strings.HasPrefix(at, "*") {
		return ""
	}
	if end := strings.IndexAny(at, " \t\r,[]{}"); end >= 0 {
		return at[:end]
	}
	return at
}
