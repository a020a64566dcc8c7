// Package wording words messages for a door. A message names parameters and advises to set them, and the user of a
// command of one line has only seen its flags. So such parts of a message are values with a kind, which each door words
// in its own way.
package wording

import "strings"

// Kind is the kind of a part of a message, such as "set_overwrite" for the advice to set overwrite. docs/embedding.md
// lists the kinds.
type Kind string

// Part is a part of a message that doors word differently.
type Part struct {
	Kind Kind
	// Text is the part in the words of the engine, for users who have written a pipeline.
	Text string
	// Value is the subject of the part, such as a text of the user, "" if the kind is enough.
	Value string
}

// String returns the part in the words of the engine.
func (p Part) String() string { return p.Text }

// Words returns a part in the words of a door. Nil returns it in the words of the engine.
type Words func(Part) string

// Of returns the message of an error in the words of a door. An error without parts of its own has the messages that it
// wraps in these words.
func Of(err error, words Words) string {
	if words == nil {
		return err.Error()
	}
	if message := messageOf(err); message != nil {
		return message.Worded(words)
	}
	text := err.Error()
	for _, inner := range wrapped(err) {
		text = reword(text, inner, words)
	}
	return text
}

// reword returns a text that contains the message of an error, with that message in the words of a door.
func reword(text string, err error, words Words) string {
	if own := err.Error(); own != "" && strings.Contains(text, own) {
		return strings.Replace(text, own, Of(err, words), 1)
	}
	for _, inner := range wrapped(err) {
		text = reword(text, inner, words)
	}
	return text
}

// Parts returns the parts of the message of an error.
func Parts(err error) []Part {
	var parts []Part
	Of(err, func(p Part) string {
		parts = append(parts, p)
		return p.Text
	})
	return parts
}

// messageOf returns the message with parts that an error is, or that its method As sets; nil without a message.
// internal/worded makes such messages.
func messageOf(err error) interface {
	Worded(words Words) string
} {
	var message interface {
		Worded(words Words) string
	}
	if own, ok := err.(interface {
		Worded(words Words) string
	}); ok {
		return own
	}
	if has, ok := err.(interface{ As(target any) bool }); ok && has.As(&message) {
		return message
	}
	return nil
}

// wrapped returns the errors that an error wraps.
func wrapped(err error) []error {
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return []error{inner}
		}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	}
	return nil
}
