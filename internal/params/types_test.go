package params_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// mode is a string of its own type.
type mode string

// millis is read and written as a number of milliseconds.
type millis time.Duration

func (m millis) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d", time.Duration(m).Milliseconds()), nil
}

func (m *millis) UnmarshalJSON(data []byte) error {
	n, err := json.Number(data).Int64()
	if err != nil {
		return errors.New("want a number of milliseconds")
	}
	*m = millis(n) * millis(time.Millisecond)
	return nil
}

// level is read and written as text, and has no text for some values.
type level int8

func (l level) MarshalText() ([]byte, error) {
	if l < 0 || l > 2 {
		return nil, fmt.Errorf("no level %d", int8(l))
	}
	return []byte([]string{"low", "medium", "high"}[l]), nil
}

func (l *level) UnmarshalText(text []byte) error {
	for c := level(0); c <= 2; c++ {
		if name, _ := c.MarshalText(); string(name) == string(text) {
			*l = c
			return nil
		}
	}
	return fmt.Errorf("unknown level %q", text)
}

type lineRange struct {
	Start int `json:"start" param:"required"`
	End   int `json:"end,omitempty"`
}

type pair struct {
	Old  string `json:"old_text" param:"required"`
	New  string `json:"new_text" param:"required,empty"`
	Kind string `json:"kind,omitempty" enum:"first,all"`
}

type common struct {
	Files []string `json:"files,omitempty" doc:"The files to work on."`
	host  func()   // unexported, no parameter
}

// kitchen has a field of every kind.
type kitchen struct {
	common
	Pattern  string               `json:"pattern" param:"required" doc:"What to look for."`
	Mode     mode                 `json:"mode,omitempty" enum:"auto,literal,regex"`
	Kinds    []string             `json:"kinds,omitempty" enum:"a,b"`
	Whole    bool                 `json:"whole,omitempty"`
	Line     int                  `json:"line,omitempty"`
	Small    int8                 `json:"small"`
	Count    uint16               `json:"count,omitempty"`
	Big      uint64               `json:"big,omitempty"`
	Ratio    float64              `json:"ratio,omitempty"`
	Rough    float32              `json:"rough"`
	Edits    []pair               `json:"edits,omitempty"`
	Ranges   []*lineRange         `json:"ranges,omitempty"`
	Opt      lineRange            `json:"opt"`
	More     *lineRange           `json:"more,omitempty"`
	Limit    *int                 `json:"limit,omitempty"`
	Title    *string              `json:"title"`
	Numbers  []int                `json:"numbers"`
	Matrix   [][]string           `json:"matrix,omitempty"`
	Vars     map[string]string    `json:"vars,omitempty"`
	Weights  map[mode]float64     `json:"weights"`
	Table    map[string]lineRange `json:"table,omitempty"`
	Timeout  millis               `json:"timeout,omitempty"`
	Level    level                `json:"level"`
	Levels   []level              `json:"levels,omitempty"`
	Since    time.Time            `json:"since,omitzero"`
	Extra    json.RawMessage      `json:"extra,omitempty"`
	Plain    string               // its name in JSON is "Plain"
	Progress func(int)            `json:"-"`
}

var template = regexp.MustCompile(`\{\{\w+\.\w+\}\}`)

func isTemplate(s string) bool { return template.MatchString(s) }

func parse(text string) *strictjson.Node {
	n, err := strictjson.Parse([]byte(text), strictjson.Limits{})
	if err != nil {
		panic(err)
	}
	return n
}

// decode decodes into a copy of proto and returns the problems as text, a line each.
func decode(proto any, text string) (any, map[string]string, []string) {
	v, binds, problems := params.Decode(proto, parse(text), "try", isTemplate)
	return v, binds, lines(problems)
}

func lines(problems []params.Problem) []string {
	var all []string
	for _, p := range problems {
		line := fmt.Sprintf("%s %s: %s", p.Pointer, p.Code, p.Message)
		if p.Hint != "" {
			line += ": " + p.Hint
		}
		all = append(all, line)
	}
	return all
}

// of inspects a valid action.
func of(value any) params.Action {
	a, err := params.Of(value)
	if err != nil {
		panic(err)
	}
	return a
}

// equal reports whether two actions are written the same.
func equal(a, b any) bool { return equalBound(a, b, nil) }

func equalBound(a, b any, binds map[string]string) bool {
	one, err := params.Encode(a, nil, binds)
	if err != nil {
		panic(err)
	}
	other, err := params.Encode(b, nil, binds)
	return err == nil && string(one) == string(other)
}
