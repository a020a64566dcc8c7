package steering_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
)

// whole returns a pipeline that uses everything that steers a run.
func whole() millrace.Pipeline {
	return millrace.New("p").MaxAttempts(50).
		Step("call", actions.Search{Pattern: "x"}).MaxRetries(5).MaxVisits(3).Timeout(1500*time.Millisecond).Backoff(250*time.Millisecond).OnFail("give-up").
		Step("fix", actions.Edit{OldText: "x", NewText: "y"}).FromPrevious().
		Step("check", actions.Search{Pattern: "y"}).When(condition.PrevError()).Next("report").
		RetryIf("call", "incomplete").
		Retry(millrace.Retry{Step: "fix", When: condition.StepFailed("check"), Restart: true}).
		RetryWhen("check", condition.PrevError()).
		Step("report", actions.Search{Pattern: "z"}).
		Step("give-up", actions.Fail{Message: "it cannot be done"}).When(condition.StepFailed("report")).
		MustBuild()
}

const wholeJSON = `{"name":"p","max_attempts":50,"steps":[` +
	`{"id":"call","action":"search","on_fail":"give-up","max_retries":5,"max_visits":3,"timeout":1.5,"backoff":0.25,"params":{"pattern":"x"}},` +
	`{"id":"fix","action":"edit","input":"previous","params":{"old_text":"x","new_text":"y"}},` +
	`{"id":"check","action":"search","condition":{"type":"prev_error"},"next":"report","retry_if":[` +
	`{"step":"call","keyword":"incomplete"},{"step":"fix","when":{"type":"step_failed","step_ref":"check"},"restart":true},` +
	`{"step":"check","when":{"type":"prev_error"}}],"params":{"pattern":"y"}},` +
	`{"id":"report","action":"search","params":{"pattern":"z"}},` +
	`{"id":"give-up","action":"fail","condition":{"type":"step_failed","step_ref":"report"},"params":{"message":"it cannot be done"}}]}`

// A pipeline is the same when it is built, written and read.
func TestJSON(t *testing.T) {
	t.Parallel()
	p := whole()
	data, err := json.Marshal(p)
	if d := cmp.Diff(wholeJSON, string(data)); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	for _, lenient := range []bool{false, true} {
		q, err := millrace.Decoder{Lenient: lenient}.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Equal(q) || p.Digest() != q.Digest() || len(q.Warnings()) > 0 || q.MaxAttempts() != 50 {
			t.Errorf("lenient %v: Equal %v, warnings %v, at most %d steps", lenient, p.Equal(q), q.Warnings(), q.MaxAttempts())
		}
		again, err := json.Marshal(q)
		if err != nil || string(again) != string(data) {
			t.Errorf("written again (%v):\n%s", err, again)
		}
	}
	unlimited := millrace.New("p").Step("a", actions.Fail{Message: "m"}).MustBuild()
	if got := unlimited.MaxAttempts(); got != definition.MaxAttempts {
		t.Errorf("a pipeline without max_attempts has %d attempts at most", got)
	}
}

// spelling returns a pipeline of three steps with the fields in the second step.
func spelling(fields string) string {
	return `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x"}},` +
		`{"id":"b","action":"read_ranges","params":{"files":["f"]},` + fields + `},{"id":"c","action":"search","params":{"pattern":"x"}}]}`
}

// Both spellings mean the same, in strict and in lenient decoding, and neither is a repair.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{`"retry_if":{"a":"still failing","b":"again"}`, `"retry_if":[{"step":"a","keyword":"still failing"},{"step":"b","keyword":"again"}]`},
		{`"retry_if":{}`, `"retry_if":[]`},
		{`"condition":"prev.error"`, `"condition":{"type":"prev_error"}`},
		{`"retry_if":[{"step":"a","when":"prev.error"}]`, `"retry_if":[{"step":"a","when":{"type":"prev_error"}}]`},
		{`"timeout":2,"backoff":0,"max_retries":1`, `"timeout":2.000,"max_retries":1.0`},
	} {
		for _, lenient := range []bool{false, true} {
			d := millrace.Decoder{Lenient: lenient}
			p, err := d.Decode([]byte(spelling(test[0])))
			q, err2 := d.Decode([]byte(spelling(test[1])))
			if err != nil || err2 != nil || !p.Equal(q) || len(p.Warnings())+len(q.Warnings()) > 0 {
				t.Errorf("%s, lenient %v: %v, %v, Equal %v, %v", test[0], lenient, err, err2, p.Equal(q), p.Warnings())
			}
			// Another mistake does not change the meaning of the step.
			broken := strings.Replace(spelling(test[0]), `"name"`, `"verbose":"yes","name"`, 1)
			mended, err := d.Decode([]byte(broken))
			o := q.Options()
			o.Verbose = true
			if lenient && (err != nil || !mended.Equal(q.WithOptions(o)) || len(mended.Warnings()) != 1) {
				t.Errorf("%s with a mistake elsewhere: %v, %v", test[0], err, mended.Warnings())
			}
		}
	}
	// Ids are plain ids, even "step" and "keyword".
	named := `{"name":"p","steps":[{"id":"step","action":"search","params":{"pattern":"x"}},{"id":"keyword","action":"search","params":{"pattern":"x"},"retry_if":{"step":"a","keyword":"b"}}]}`
	for _, lenient := range []bool{false, true} {
		p, err := millrace.Decoder{Lenient: lenient}.Decode([]byte(named))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]millrace.Retry{{Step: "step", Keyword: "a"}, {Step: "keyword", Keyword: "b"}}, p.Steps()[1].RetryIf, cmp.Comparer(sameCondition)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func sameCondition(a, b condition.Condition) bool { return a == b }

// Other spellings that models send are repaired, and each repair is a warning; strict decoding refuses them.
func TestSloppySpellings(t *testing.T) {
	t.Parallel()
	const back = `"retry_if":[{"step":"a","keyword":"again"}]`
	for _, test := range []struct{ sent, means, warning string }{
		{`"retry_if":{"step":"a","keyword":"again"}`, back, "read as a list of one"},
		{`"retry_if":{"target":"a","keyword":"again"}`, back, "'target' was read as 'step'"},
		{`"retry_if":{"keyword":"again","step":"a","restart":"yes"}`, `"retry_if":[{"step":"a","keyword":"again","restart":true}]`, "read as true"},
		{`"retryIf":{"a":"again"}`, back, "'retryIf' was read as 'retry_if'"},
		{`"retry_if":[{"Step":"a","Keyword":"again"}]`, back, "'Step' was read as 'step'"},
		{`"retry_if":[{"step":"a","keyword":"again","when":null}]`, back, "read as missing"},
		{`"retry_if":[{"step":"a","when":"prev_error"}]`, `"retry_if":[{"step":"a","when":"prev.error"}]`, "'prev_error' was read as 'prev.error'"},
		{`"retry_if":[{"step":"a","when":{"type":"step_failed","step":"b"}}]`, `"retry_if":[{"step":"a","when":{"type":"step_failed","step_ref":"b"}}]`, "'step' was read as 'step_ref'"},
		{`"retry_if":"[{\"step\":\"a\",\"keyword\":\"again\"}]"`, back, "JSON in a string"},
		{`"retry_if":[{"step":"a","when":{"type":"Step_Failed","step_ref":"b"}}]`, `"retry_if":[{"step":"a","when":{"type":"step_failed","step_ref":"b"}}]`, "read as 'step_failed'"},
		{`"input":"Previous"`, `"input":"previous"`, "'Previous' for 'input' was read as 'previous'"},
		{`"on_failure":"c"`, `"on_fail":"c"`, "'on_failure' was read as 'on_fail'"},
		{`"onFail":"c"`, `"on_fail":"c"`, "'onFail' was read as 'on_fail'"},
		{`"onSuccess":"c"`, `"next":"c"`, "'onSuccess' was read as 'next'"},
		{`"goto":"c"`, `"next":"c"`, "'goto' was read as 'next'"},
		{`"max_retries":"3"`, `"max_retries":3`, "read as the number 3"},
		{`"retries":3`, `"max_retries":3`, "'retries' was read as 'max_retries'"},
		{`"timeout_seconds":"30"`, `"timeout":30`, "read as the number 30"},
		{`"backOff":"0.5"`, `"backoff":0.5`, "read as the number 0.5"},
		{`"timeout":null`, `"raw":false`, "read as missing"},
		{`"condition":"prev_error"`, `"condition":"prev.error"`, "'prev_error' was read as 'prev.error'"},
		{`"condition":"Previous.Error"`, `"condition":"prev.error"`, "was read as 'prev.error'"},
		{`"condition":{"type":"prev.error"}`, `"condition":"prev.error"`, "'prev.error' was read as 'prev_error'"},
		{`"if":"prev.error"`, `"condition":"prev.error"`, "'if' was read as 'condition'"},
		{`"params":{"files":["f"],"on_fail":"c"}`, `"on_fail":"c"`, "'on_fail' was taken out of 'params'"},
		{`"params":{"files":["f"],"retry_if":{"a":"again"}}`, back, "'retry_if' was taken out of 'params'"},
		// ambiguous texts
		{`"timeoutMs":30000`, "", "unknown field 'timeoutMs'"},
		{`"backoff_ms":"500"`, "", "unknown field 'backoff_ms'"},
		{`"timeout":"30s"`, "", "'timeout' must be a number, got string"},
		{`"on_fail":"c","on_failure":"x"`, "", "keep one of them"},
		{`"retry_if":["a"]`, "", "must be an object, got string"},
		{`"retry_if":"again"`, "", "must be a list"},
		{`"condition":"last.error"`, "", "'condition' must be an object, got string"},
		{`"max_retries":1.5`, "", "must be a whole number"},
	} {
		sent := spelling(test.sent)
		if strings.Contains(test.sent, `"params"`) || strings.Contains(test.sent, `"input"`) {
			sent = strings.Replace(sent, `"params":{"files":["f"]},`, "", 1)
		}
		if _, err := millrace.Decode([]byte(sent)); err == nil {
			t.Errorf("strict decoding accepts %s", test.sent)
		}
		p, err := millrace.Decoder{Lenient: true}.Decode([]byte(sent))
		told := fmt.Sprint(p.Warnings(), err)
		if (err == nil) != (test.means != "") || !strings.Contains(told, test.warning) {
			t.Errorf("%s: got %v, want %q", test.sent, told, test.warning)
			continue
		}
		if err == nil {
			means := spelling(test.means)
			if strings.Contains(test.means, `"input"`) {
				means = strings.Replace(means, `"params":{"files":["f"]},`, "", 1)
			}
			if q, err := millrace.Decode([]byte(means)); err != nil || !p.Equal(q) {
				again, _ := json.Marshal(p)
				t.Errorf("%s does not mean %s: %v\n%s", test.sent, test.means, err, again)
			}
		}
	}
}

// A parameter of the action is not a field of the step, even if the parameter has the other name of a field.
func TestParameterInStep(t *testing.T) {
	t.Parallel()
	sent := spelling(`"on_error":"continue"`)
	p, err := millrace.Decoder{Lenient: true}.Decode([]byte(sent))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Steps()[1].Action.(actions.ReadRanges).OnError; got != "continue" {
		t.Errorf("on_error is %q", got)
	}
	if _, err := millrace.Decode([]byte(sent)); err == nil || !strings.Contains(err.Error(), "put 'on_error' into 'params'") {
		t.Errorf("got %v", err)
	}
}

// Problems have their position in the text, in each spelling. A caller that has generated the JSON is asked for the
// position.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fields, at string // the text that has the problem
		pointer    string
		name       bool // the position is that of the name
	}{
		{`"retry_if":{"a":"x","zzz":"y"}`, `"zzz"`, "/steps/1/retry_if/zzz", true},
		{`"retry_if":{"a":"x","a/b":"y"}`, `"a/b"`, "/steps/1/retry_if/a~1b", true},
		{`"retry_if":{"a":7}`, `7`, "/steps/1/retry_if/a", false},
		{`"retry_if":{"a":""}`, `""`, "/steps/1/retry_if/a", false},
		{`"retry_if":[{"step":"zzz","keyword":"y"}]`, `"zzz"`, "/steps/1/retry_if/0/step", false},
		{`"retry_if":[{"step":"a","keywords":"y","keyword":"x"}]`, `"keywords"`, "/steps/1/retry_if/0/keywords", true},
		{`"on_fail":"a"`, `"a"}`, "/steps/1/on_fail", false},
		{`"timeout":0`, `0}`, "/steps/1/timeout", false},
	} {
		text := spelling("\n" + test.fields)
		line := strings.Split(text, "\n")[1]
		_, err := millrace.Decode([]byte(text))
		invalid, ok := err.(*millrace.ValidationError)
		if !ok || len(invalid.Problems) != 1 {
			t.Errorf("%s: %v", test.fields, err)
			continue
		}
		p, column := invalid.Problems[0], strings.Index(line, test.at)+1
		if p.Pointer != test.pointer || p.Line != 2 || p.Column != column {
			t.Errorf("%s: %s at %d:%d, want %s at 2:%d", test.fields, p.Pointer, p.Line, p.Column, test.pointer, column)
		}
		var asked []string
		_, err = millrace.Decoder{Locate: func(pointer string, name bool) (int, int) {
			asked = append(asked, fmt.Sprint(pointer, " ", name))
			return 10, 20
		}}.Decode([]byte(text))
		p = err.(*millrace.ValidationError).Problems[0]
		if want := []string{fmt.Sprint(test.pointer, " ", test.name)}; p.Line != 10 || p.Column != 20 || !cmp.Equal(asked, want) {
			t.Errorf("%s: asked for %v, want %v; at %d:%d", test.fields, asked, want, p.Line, p.Column)
		}
	}
}

// TestEarlierName reads max_steps, the earlier name of max_attempts, and refuses both at once.
func TestEarlierName(t *testing.T) {
	t.Parallel()
	const with = `{"name":"p",%s"steps":[{"id":"a","action":"fail","params":{"message":"m"}}]}`
	p, err := millrace.Decode(fmt.Appendf(nil, with, `"max_steps":50,`))
	if err != nil || p.MaxAttempts() != 50 {
		t.Fatalf("max_steps: %d attempts, %v", p.MaxAttempts(), err)
	}
	data, err := p.MarshalJSON()
	if err != nil || !strings.Contains(string(data), `"max_attempts":50`) {
		t.Errorf("written as %s, %v", data, err)
	}
	for fields, want := range map[string]string{
		`"max_steps":201,`:                    "max_steps must be 1 to 200, got 201",
		`"max_steps":0,`:                      "max_steps must be 1 to 200, got 0",
		`"max_attempts":3,"max_steps":50,`:    "max_steps",
		`"max_attempts":300,"max_retries":1,`: "max_attempts must be 1 to 200, got 300",
	} {
		if _, err := millrace.Decode(fmt.Appendf(nil, with, fields)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
}
