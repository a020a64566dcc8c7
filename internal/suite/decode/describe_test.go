package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

func TestDescribe(t *testing.T) {
	doc, ok := millrace.Decoder{}.Describe("multi_edit")
	if !ok || doc.Name != "multi_edit" || doc.ReadOnly || doc.Input != actions.InputFiles || doc.Summary == "" {
		t.Errorf("%v %+v", ok, doc)
	}
	var got []string
	for _, p := range doc.Params {
		if p.Doc == "" {
			t.Errorf("%s has no doc", p.Name)
		}
		if p.Required {
			got = append(got, p.Name+": "+p.Type)
		}
		if p.Name == "mode" {
			got = append(got, p.Enum...)
		}
	}
	if diff := cmp.Diff([]string{"edits: a list of objects", "edits[].old_text: a string", "edits[].new_text: a string", "sequential", "simultaneous", "longest"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, name := range actions.Builtin().Names() {
		if _, ok := (millrace.Decoder{}).Describe(name); !ok {
			t.Errorf("%s has no description", name)
		}
	}
	if doc, ok := (millrace.Decoder{Actions: actions.Registry{}.With(actions.Search{})}).Describe("edit"); ok {
		t.Errorf("%+v of an action that is not in the registry", doc)
	}
}

// Locate is called for each element of the text, and receives whether the name is meant.
func TestLocate(t *testing.T) {
	var asked []string
	d := millrace.Decoder{Locate: func(pointer string, name bool) (line, column int) {
		asked = append(asked, fmt.Sprint(pointer, " ", name))
		return len(asked), 7
	}}
	_, err := d.Decode([]byte(`{"nam": "p", "steps": [{"id": "a", "action": "edit", "params": {"old_text": 1, "x": 2}}]}`))
	invalid, ok := err.(*millrace.ValidationError)
	if !ok {
		t.Fatal(err)
	}
	for i, p := range invalid.Problems {
		if p.Line != i+1 || p.Column != 7 {
			t.Errorf("%d, %d: %v", p.Line, p.Column, p)
		}
	}
	want := []string{"/nam true", "/steps/0/params/old_text false", "/steps/0/params/x true", "/steps/0/params false", "/steps/0/params false"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// For a repaired text too, Locate is called for the elements of the text, under their names and positions in the text.
func TestLocateLenient(t *testing.T) {
	t.Parallel()
	var asked []string
	d := millrace.Decoder{Lenient: true, Locate: func(pointer string, name bool) (line, column int) {
		asked = append(asked, fmt.Sprint(pointer, " ", name))
		return 1, 1
	}}
	for text, want := range map[string][]string{
		`"params":{"file":["a.txt"],"old":"o","new_text":"n","mod":"regx"}`:          {"/params/mod false"},
		`"params":{"file":["a.txt"],"old":"o","new_text":"n","mode":"regx"}`:         {"/params/mode false"},
		`"params":{"files":["a.txt",1],"old":"o","new_text":"n"}`:                    {"/params/files/1 false"},
		`"files":["a.txt",1],"old":"o","new_text":"n"`:                               {"/files/1 false"},
		`"args":"{\"files\":[1],\"old_text\":\"o\",\"new_text\":\"n\"}"`:             {"/args false"},
		`"params":{"files":["a"],"old":"o","new_text":"n","expct":{"max_files":-1}}`: {"/params/expct true"},
	} {
		asked = nil
		_, err := d.Decode([]byte(`{"name":"x","steps":[{"id":"e","action":"edit",` + text + `}]}`))
		invalid, ok := err.(*millrace.ValidationError)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, at := range asked[len(asked)-len(invalid.Problems):] {
			got = append(got, strings.TrimPrefix(at, "/steps/0"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %v: -want +got\n%s", text, err, diff)
		}
	}
}
