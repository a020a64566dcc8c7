// Package structural finds code by its shape: texts with holes, such as f(:[a], :[b]), that are compared token by
// token.
//
// [Parse] reads a pattern. [Pattern.Find] compares it with a text in a [Language], a row of a table of lexical rules:
// no grammar is needed, and code that does not compile is searched too. [ParseReplacement] reads what matches become.
//
// A text is cut into words, strings, comments, brackets and single operator characters. Layout does not matter. A hole
// takes whole tokens and whole pairs of brackets. Matches are found from left to right without overlaps, and each hole
// takes as little as it can. A table of places that were tried keeps the time in proportion to the text times the
// pattern. Patterns in which a name stands twice, or a hole has an expression, have a budget of steps instead.
package structural
