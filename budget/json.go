package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/show"
)

// invalidError is a mistake in a limit. Several mistakes are joined into one error.
type invalidError struct {
	// Field is "usd", "files", "edits" or "bytes", the name of an unknown field, or "" for the limit as a whole.
	Field string
	// Message is the whole message.
	Message string
	// Hint describes the correction, "" if none is known.
	Hint string
}

// Error returns the message.
func (e *invalidError) Error() string { return e.Message }

// Place returns the field and the hint. The check of a pipeline reports them apart from the message.
func (e *invalidError) Place() (field, hint string) { return e.Field, e.Hint }

// MarshalJSON returns the code, the message and the paths.
func (e *invalidError) MarshalJSON() ([]byte, error) { return errorform.Marshal("invalid_budget", e) }

// invalid returns the error of a field; the format follows the field's name.
func invalid(field, format string, args ...any) *invalidError {
	name := "budget"
	if field != "" {
		name += "." + field
	}
	return &invalidError{Field: field, Message: name + " " + fmt.Sprintf(format, args...)}
}

// quoted adds a hint if a value of the wrong kind is a number in quotes.
func quoted(value []byte, e *invalidError) *invalidError {
	text := strings.Trim(string(value), `"`)
	if _, err := parse(text); err == nil && len(text) < len(value) {
		e.Hint = "write it without quotes: " + text
	}
	return e
}

// tooSmall returns the error of a field that is 0 or less.
func tooSmall(field, got string) *invalidError {
	e := invalid(field, "must be more than 0, got %s", got)
	e.Hint = "leave it out for no limit"
	return e
}

// Check returns an error that joins an error for each negative field, or nil.
func (l Limit) Check() error {
	var errs []error
	money := "usd"
	if l == (Limit{USD: l.USD}) {
		money = ""
	}
	if l.USD < 0 {
		text, _ := l.USD.MarshalJSON() // never fails
		errs = append(errs, tooSmall(money, string(text)))
	}
	for _, m := range l.measures(Use{}) {
		if m.limit < 0 {
			errs = append(errs, tooSmall(m.name, strconv.FormatInt(m.limit, 10)))
		}
	}
	return errors.Join(errs...)
}

// UnmarshalJSON reads a number of dollars or an object. The error joins an error for each mistake, at most 20,
// and the limit is unchanged then, and by null.
func (l *Limit) UnmarshalJSON(data []byte) error {
	var read Limit
	var errs []error
	switch data = bytes.TrimSpace(data); {
	case !json.Valid(data):
		errs = append(errs, invalid("", "is not valid JSON"))
	case string(data) == "null":
		return nil
	case data[0] == '{':
		errs = read.object(data)
	case data[0] == '-' || digits(string(data[:1])):
		if err := money("", data, &read.USD); err != nil {
			errs = append(errs, err)
		}
	default:
		got := show.Name(string(data))
		errs = append(errs, quoted(data, invalid("", "must be a number of dollars or an object, got %s", got)))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	*l = read
	return nil
}

// mostMistakes is the number of reported mistakes in an object. An untrusted text may have a million mistakes.
const mostMistakes = 20

// object reads the fields of an object.
func (l *Limit) object(data []byte) (errs []error) {
	in := json.NewDecoder(bytes.NewReader(data))
	if _, err := in.Token(); err != nil {
		return []error{err}
	}
	seen := make(map[string]bool)
	for in.More() && len(errs) < mostMistakes {
		key, err := in.Token()
		if err != nil {
			return []error{err}
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return []error{err}
		}
		name := key.(string) // the keys of an object are texts
		if seen[name] {
			errs = append(errs, invalid(name, "is given twice"))
			continue
		}
		seen[name] = true
		if err := l.field(name, value); err != nil {
			errs = append(errs, err)
		}
	}
	if len(seen) == 0 {
		errs = append(errs, invalid("", "is empty: give usd, files, edits or bytes, or leave it out for no limit"))
	}
	return errs
}

func (l *Limit) field(name string, value []byte) error {
	switch name {
	case "usd":
		return money(name, value, &l.USD)
	case "files":
		return number(name, value, &l.Files, strconv.IntSize)
	case "edits":
		return number(name, value, &l.Edits, strconv.IntSize)
	case "bytes":
		return number(name, value, &l.Bytes, 64)
	}
	return invalid(show.Name(name), "is unknown: use usd, files, edits or bytes")
}

// money reads a limit of dollars.
func money(name string, value []byte, to *Cost) error {
	switch cost, err := parse(string(value)); {
	case errors.Is(err, errDecimals):
		return invalid(name, "can have 6 decimals at most, got %s", show.Name(string(value)))
	case errors.Is(err, errTooLarge):
		return invalid(name, "is too large, got %s", show.Name(string(value)))
	case err != nil:
		return quoted(value, invalid(name, "must be a number of dollars, got %s", show.Name(string(value))))
	case cost <= 0:
		return tooSmall(name, show.Name(string(value)))
	default:
		*to = cost
		return nil
	}
}

// number reads a limit that is a count.
func number[T int | int64](name string, value []byte, to *T, bits int) error {
	switch n, err := strconv.ParseInt(string(value), 10, bits); {
	case errors.Is(err, strconv.ErrRange) && value[0] != '-':
		return invalid(name, "is too large, got %s", show.Name(string(value)))
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return quoted(value, invalid(name, "must be a whole number, got %s", show.Name(string(value))))
	case n <= 0:
		return tooSmall(name, show.Name(string(value)))
	default:
		*to = T(n)
		return nil
	}
}

// MarshalJSON returns a number of dollars if that is the only limit, else an object with the set limits, and null
// without limits.
func (l Limit) MarshalJSON() ([]byte, error) {
	switch {
	case l.IsZero():
		return []byte("null"), nil
	case l == Limit{USD: l.USD}:
		return l.USD.MarshalJSON()
	}
	return json.Marshal(struct {
		USD   Cost  `json:"usd,omitzero"`
		Files int   `json:"files,omitzero"`
		Edits int   `json:"edits,omitzero"`
		Bytes int64 `json:"bytes,omitzero"`
	}(l))
}
