// Package structural finds code by its shape: patterns with holes, such as f(:[a], :[b]), that are compared token by
// token.
//
// [Parse] reads a pattern. [Pattern.Find] compares it with a text in a [Language], a row of a table of lexical rules:
// no grammar is needed, and code that does not compile is searched too. [Pattern.ParseReplacement] reads the
// replacement of matches.
//
// A text is cut into words, strings, comments, brackets and single operator characters. Layout does not matter. A hole
// matches whole tokens and whole pairs of brackets. Matches are found from left to right without overlaps, and each
// hole matches as little as possible. A table of tried places keeps the time proportional to the text times the
// pattern. Patterns with a repeated name, or a hole with an expression, have a limit of steps instead.
package structural
