package decode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
)

// sloppy is one text that is not a strict pipeline.
type sloppy struct {
	name, in string
	// want is the resulting pipeline, "" if the text is refused.
	want string
	// says is in a warning, or in the message of the refusal.
	says string
	// strict is in the one problem of strict decoding.
	strict string
}

// onEdit returns a pipeline with an edit of the files that "find" has found.
func onEdit(params string) string {
	return steps(find + `,{"id":"fix","action":"edit","input_from":"find","params":{` + params + `}}`)
}

// onSearch returns a pipeline of a search with more parameters.
func onSearch(params string) string {
	return steps(`{"id":"find","action":"search","params":{"pattern":"x",` + params + `}}`)
}

// option returns a pipeline with an option.
func option(text string) string { return `{"name":"p",` + text + `,"steps":[` + find + `]}` }

const changed = `"old_text":"a","new_text":"b"`

// Each of these texts is read as intended, with a warning, or refused with a message that states what to write. Strict
// decoding refuses all of them, with one problem for one mistake, and names a remedy.
func TestLenientTable(t *testing.T) {
	plain := steps(find)
	dry := option(`"dry_run":true`)
	cases := [][]sloppy{sloppyTexts(plain, dry), sloppyProse(plain), sloppyNames(plain, dry), sloppyValues(plain, dry), sloppyShapes(plain, dry)}
	n := 0
	for _, list := range cases {
		for _, c := range list {
			n++
			t.Run(c.name, func(t *testing.T) { c.check(t) })
		}
	}
	if n < 60 {
		t.Errorf("only %d texts", n)
	}
}

func (c sloppy) check(t *testing.T) {
	_, err := millrace.Decode([]byte(c.in))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatalf("strict decoding accepts it: %v", err)
	}
	if len(invalid.Problems) != 1 || !strings.Contains(err.Error(), c.strict) {
		t.Errorf("strict: %v\nwant one problem with %q", err, c.strict)
	}
	if p := invalid.Problems[0]; p.Line == 0 || p.Column == 0 {
		t.Errorf("strict: no place: %+v", p)
	}
	p, err := millrace.Decoder{Lenient: true}.Decode([]byte(c.in))
	if c.want == "" {
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("lenient: %v\nwant an error with %q", err, c.says)
		}
		return
	}
	if err != nil {
		t.Fatalf("lenient: %v", err)
	}
	want, err := millrace.Decode([]byte(c.want))
	if err != nil {
		t.Fatalf("the pipeline to compare with: %v", err)
	}
	if !p.Equal(want) {
		data, _ := p.MarshalJSON()
		t.Errorf("became %s\nwant %s", data, c.want)
	}
	found := false
	for _, w := range p.Warnings() {
		found = found || strings.Contains(w.String(), c.says)
		if w.Line == 0 || w.Column == 0 {
			t.Errorf("a warning without a place: %+v", w)
		}
	}
	if !found || c.says == "" {
		t.Errorf("no warning with %q in %v", c.says, p.Warnings())
	}
}

// The text around and between the values.
func sloppyTexts(plain, dry string) []sloppy {
	brk := strings.Replace(plain, `"steps"`, "\n\"steps\"", 1)
	return []sloppy{
		{"code fence", "```json\n" + plain + "\n```", plain, "code fence", "take the JSON out of the code fence"},
		{"bare fence", "```\n" + plain + "\n```\n", plain, "code fence", "take the JSON out of the code fence"},
		{"fence and prose", "Here you are, {{x}}:\n\n```json\n" + brk + "\n```\nTell me if it works.", plain, "text around", "without text around it"},
		{"fence without an end", "```json\n" + plain, plain, "code fence", "take the JSON out of the code fence"},
		{"prose before", "The pipeline is: " + plain, plain, "text around", "without text around it"},
		{"prose after", plain + "\nThis replaces nothing.", plain, "text around", "without text around it"},
		{"tags around", "<pipeline>" + plain + "</pipeline>", plain, "text around", "without text around it"},
		{"an assignment", "const pipeline = " + plain + ";", plain, "text around", "without text around it"},
		{"byte order mark", "\ufeff" + plain, plain, "byte order mark", "byte order mark"},
		{"trailing commas", `{"name":"p","steps":[{"id":"find","action":"search","params":{"pattern":"x",},},],}`, plain, "commas", "leave out the comma"},
		{"comma before a comment", "{\"name\":\"p\",\"steps\":[" + find + ", // the only one\n]}", plain, "comments", "leave out the comments"},
		{"line comments", "{// first\n\"name\":\"p\", # hash\n\"steps\":[" + find + "]}", plain, "comments", "leave out the comments"},
		{"block comment", strings.Replace(plain, `"steps"`, `/* "dry_run": true */ "steps"`, 1), plain, "comments", "leave out the comments"},
		{"a commented option", strings.Replace(dry, `"steps"`, "// \"dry_run\": false,\n\"steps\"", 1), dry, "comments", "leave out the comments"},
		{"single quotes", strings.ReplaceAll(plain, `"`, `'`), plain, "single quotes", "double quotes"},
		{"quotes within single quotes", onEdit(`'old_text':'say "hi"','new_text':'it\'s'`), onEdit(`"old_text":"say \"hi\"","new_text":"it's"`), "single quotes", "double quotes"},
		{"typographic quotes", strings.NewReplacer(`"name"`, `“name”`, `"p"`, `“p”`, `"x"`, `”x”`).Replace(plain), plain, "typographic", "plain quote"},
		{"names without quotes", `{name:"p",steps:[{id:"find",action:"search",params:{pattern:"x"}}]}`, plain, "names without quotes", "double quotes"},
		{"True", option(`"dry_run":True`), dry, "True", "write true"},
		{"None", onSearch(`"mode":None`), plain, "None", "leave out"},
		{"NaN", onSearch(`"max_file_bytes":NaN`), plain, "NaN", "leave out"},
		{"undefined", onSearch(`"path":undefined`), plain, "undefined", "leave out"},
		{"line break in a string", onEdit("\"old_text\":\"a\nb\tc\",\"new_text\":\"\""), onEdit(`"old_text":"a\nb\tc","new_text":""`), "line breaks", `\n`},
		{"line break and CR in a string", onEdit("\"old_text\":\"a\r\nb\",\"new_text\":\"\""), onEdit(`"old_text":"a\r\nb","new_text":""`), "line breaks", `\n`},
		{"escaped as a whole", `{\"name\":\"p\",\n\"steps\":[{\"id\":\"find\",\"action\":\"search\",\"params\":{\"pattern\":\"a\\nb\\\\d\\u00e9\"}}]}`,
			steps(`{"id":"find","action":"search","params":{"pattern":"a\nb\\dé"}}`), "escaped once too often", "send the JSON itself"},
		{"escaped line breaks between values", `{\n  "name": "p",\n\t"steps": [` + find + `]\n}`, plain, "white space", "outside of strings"},
		{"backslashes of an expression", onSearch(`"include":["\*.go"],"exclude":["\d+\.x"]`), onSearch(`"include":["\\*.go"],"exclude":["\\d+\\.x"]`), "backslashes", `\\`},
		{"one bracket missing", "```\n" + plain[:len(plain)-1] + "\n```", plain, "missing }", "is missing at the end"},
		{"two brackets missing", "```json\n" + plain[:len(plain)-2] + "\n```", plain, "missing ]}", "is missing at the end"},
		{"a bracket too many", plain + "}\n", plain, "too many", "too many"},
		// refused
		{"cut off in a step", plain[:len(plain)-3], "", "cut off", "cut off"},
		{"cut off in a string", plain[:len(plain)-6], "", "cut off", "cut off"},
		{"cut off after a comma", `{"name":"p","steps":[` + find + `],`, "", "cut off", "cut off"},
		{"cut off at the name", `{"name":"p","dry_run`, "", "cut off", "cut off"},
		{"cut off after the steps", plain[:len(plain)-1], "", "cut off", "cut off"},
		{"cut off after a step", plain[:len(plain)-2] + "\n", "", "cut off", "cut off"},
		{"a comment with the end in it", "```\n" + plain[:len(plain)-1] + ` // all steps, "dry_run": true }` + "\n```", "", "cut off", "cut off"},
		{"two objects with names without quotes", plain + "\nor {name: 'q', steps: [1]}", "", "two objects", "two objects"},
		{"an object in a string of another", "See {name: 'x', content: '```" + plain + "```'}", "", "two objects", "two objects"},
		{"another name of an option after the object", plain + "}, preview: true}", "", "names preview", "names preview"},
		{"a field after the object", plain + ", verbose: true}", "", "comma behind the object", "comma behind the object"},
		{"an option of a call in the prose", "run(dry=True, pipeline=" + plain + ")", "", "names dry", "names dry"},
		{"an option in a comment after it", plain + " # dry_run: true", "", "names dry_run", "names dry_run"},
		{"two objects", plain + plain, "", "two objects", "two objects"},
		{"an option after the object", plain + `, "dry_run": true}`, "", "outside of the JSON object", "outside of the JSON object"},
		{"an option in the prose", "dry_run: true\n" + plain, "", "names dry_run", "names dry_run"},
		{"an option in the prose after it", plain + "\n**Dry run**: yes", "", "names Dry run", "names Dry run"},
		{"repeated names", option(`"dry_run":false,"dry_run":true`), "", "appears twice", "appears twice"},
		{"a quote in a string", onEdit(`"old_text":"say "hi"","new_text":"x"`), "", "found 'h'", "found 'h'"},
		{"a comma missing", `{"name":"p" "steps":[` + find + `]}`, "", "expected ','", "expected ','"},
		{"escapes that could be either", onSearch(`"exclude":["\d\n"]`), "", "a backslash before 'd'", `write \\ for a backslash`},
		{"mixed escapes", `{\"name\":"p"}`, "", "some quotes have a backslash", "some quotes have a backslash"},
		{"brackets mixed up", `{"name":"p","steps":[` + find + `}]`, "", "expected ','", "expected ','"},
		{"a comment without an end", plain + " /* end", "", "not closed", "not closed"},
		{"infinity", onSearch(`"max_file_bytes":Infinity`), "", "Infinity", "Infinity"},
		{"YAML", "name: p\nsteps:\n  - id: find\n", "", "expected a value", "expected a value"},
		{"nothing", " \n", "", "empty", "empty"},
		{"only prose", "I cannot do that.", "", "expected a value", "expected a value"},
	}
}

// The text around the object may be prose, but must not name options: the object has them.
func sloppyProse(plain string) []sloppy {
	var list []sloppy
	for _, text := range []string{
		"Here is the pipeline; it runs on all files, up to 3 edits:", "A dry summary. The run takes a while.", "Steps:\n1. find\n2. edit",
		"It stops on the first error and keeps a backup.", "The laundry runs in parallel: twice.", "The budget: none. Manual work is left.",
	} {
		list = append(list, sloppy{"prose: " + text, text + "\n" + plain, plain, "text around", "without text around it"})
	}
	for option, texts := range map[string][]string{
		"dry_run":       {"Set dry_run to true.", "Use dry_run true.", "With dry_run enabled:", "I set `dry_run` to `true`.", "<dry_run>true</dry_run>"},
		"dryRun":        {"dryRun -> true"},
		"isDryRun":      {"with isDryRun"},
		"dry-run":       {"millrace run --dry-run"},
		"DRY RUN":       {"DRY RUN"},
		"Dry\u2011run":  {"Dry\u2011run only, please."},
		"stop_on_error": {"stop_on_error is true"}, "stopOnError": {"Keep stopOnError."},
		"create_backup": {"Leave create_backup off."}, "no-backup": {"--no-backup"},
		"maxsteps": {"max_steps: 3", "max steps = 3", "<max_steps>3</max_steps>", "max_steps -> 3"}, "deadlineseconds": {"deadline_seconds: 5"},
		"budget": {"budget = 3", "Budget: $2.50"}, "deadline": {"deadline: 5 s"},
		"maxedits": {"Expect: max_edits: 1"}, "minfiles": {"`min_files`: 1"},
		"manual": {"manual: true"}, "parallel": {"**Parallel**: yes"},
	} {
		for _, text := range texts {
			says := "the text around the JSON names " + option + ": put the option into the object, or leave the text out"
			list = append(list, sloppy{"an option in prose: " + text, text + "\n" + plain, "", says, says})
			list = append(list, sloppy{"an option in prose behind: " + text, plain + "\n" + text, "", says, says})
		}
	}
	return list
}

// The description of a pipeline has no effect, so it must not contain an option.
func TestOrdersInDescriptions(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		"Renames a word.":                     false,
		"Run the tests, and write a report":   false,
		"Dry run of the rename; do not write": true,
		"rename, dry_run: true":               true,
		"stop_on_error: false":                true,
		"one edit at most (max_edits: 1)":     true,
		"a run without backups, --no-backup":  true,
	} {
		in := []byte(option(`"description":"` + text + `"`))
		strict, err := millrace.Decode(in)
		if err != nil || strict.Description() != text {
			t.Errorf("strict: %q is read as %q, %v", text, strict.Description(), err)
		}
		lenient, err := millrace.Decoder{Lenient: true}.Decode(in)
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), "'description' has no effect")):
			t.Errorf("lenient: %q is accepted: %v", text, err)
		case !refused && (err != nil || !lenient.Equal(strict)):
			t.Errorf("lenient: %q is read as %q, %v", text, lenient.Description(), err)
		}
	}
}
