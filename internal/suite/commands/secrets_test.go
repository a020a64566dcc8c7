package commands_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// keeper records the input of a recorder as JSON.
type keeper struct {
	millrace.Recorder
	text strings.Builder
}

func (k *keeper) Keep(key string, r millrace.Recorded) error {
	data, err := json.Marshal(r)
	k.text.Write(data)
	return errors.Join(err, k.Recorder.Keep(key, r))
}

// A secret reaches neither the host's reports nor its store, in whatever way a command prints it.
func TestSecretsNowhere(t *testing.T) {
	t.Parallel()
	const secret = `S3CR3T-<"v\zlue">`
	const stay = "; while :; do sleep 1; done"
	for name, test := range map[string]struct {
		step    actions.Exec
		timeout time.Duration
		fails   bool
	}{
		"stdout":                     {step: script(`echo "$TOKEN"`)},
		"stderr":                     {step: script(`echo "$TOKEN" >&2`)},
		"byte by byte":               {step: script(`printf %s "$TOKEN" | while IFS= read -r -n1 c; do printf %s "$c"; done; printf %s "$TOKEN" | fold -w1 | tr -d '\n'`)},
		"on two streams":             {step: script(`printf %s "${TOKEN%%-*}"; printf %s "-${TOKEN#*-}" >&2`)},
		"in the environment":         {step: actions.Exec{Command: "env"}},
		"in JSON":                    {step: script(`printf '{"a": "S3CR3T-<\\"v\\\\zlue\\">", "S3CR3T-\\u003c\\"v\\\\zlue\\"\\u003e": ["S3CR3T-<\\"v\\\\zlue\\">"]}'`)},
		"parsed":                     {step: actions.Exec{Shell: `printf '{"a": ["S3CR3T\\u002d<\\"v\\\\zlue\\">"], "S3CR3T-<\\"v\\\\zlue\\">": 1}'`, Format: "json"}},
		"in a text that is not JSON": {step: actions.Exec{Shell: `echo "$TOKEN"`, Format: "json"}, fails: true},
		"around a cut":               {step: actions.Exec{Shell: `printf 1234567%s "${TOKEN%%-*}"; head -c 1000 /dev/zero | tr '\0' .; printf %s "-${TOKEN#*-}"; printf '%29s' end`, MaxOutput: 52}},
		"in a failure":               {step: script(`echo "failed with $TOKEN" >&2; exit 1`), fails: true},
		"in a timeout":               {step: script(`echo "$TOKEN"; echo "$TOKEN" >&2` + stay), timeout: 300 * time.Millisecond, fails: true},
		"as an argument":             {step: actions.Exec{Command: "there-is-none", Args: []string{secret}}, fails: true},
		"as the program":             {step: actions.Exec{Command: secret}, fails: true},
		"as a directory":             {step: actions.Exec{Command: "pwd", Dir: "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, fsys := host(t), memory()
			x.Commands.Secrets = map[string]string{"TOKEN": secret}
			recorder := &keeper{Recorder: millrace.NewMemoryRecorder()}
			x.Recorder = recorder
			var log, events, audit bytes.Buffer
			x.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			x.Observe = millrace.Observers(millrace.JSONEvents(&events), millrace.Audit(&audit), func(e millrace.Event) {
				fmt.Fprintf(&log, "%T %+v\n", e, e)
			})
			b := millrace.New("p").Step("s", test.step).Timeout(test.timeout).
				Step("told", actions.Create{Path: "told", Content: "{{s.output}}|{{s.error}}"}).
				Step("asked", actions.Exec{Command: "cat", Stdin: "{{s.output}}{{prev.output}}{{s.data}}"})
			p, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			given := map[string]string{}
			show := func(what string, v any, err error) {
				if v != nil {
					data, encodeErr := json.Marshal(v)
					given[what] = fmt.Sprintf("%s %+v %v", data, v, encodeErr)
				}
				if err != nil {
					given[what+" error"] = fmt.Sprintf("%v %+v", err, err)
				}
			}
			res, err := x.Run(t.Context(), fsys, p)
			if (err != nil) != test.fails {
				t.Errorf("%v", err)
			}
			show("result", res, err)
			if res != nil {
				given["report"] = res.String()
				show("summary", res.Summary(), nil)
				show("envelope", res.Envelope(), nil)
			}
			given["told"] = text(t, fsys, "told")
			plan, err := x.Plan(t.Context(), memory(), p)
			if err == nil {
				show("plan", plan, nil)
				given["diff"] = plan.Diff()
			}
			show("planning", nil, err)
			given["recordings"], given["log"], given["events"], given["audit"] = recorder.text.String(), log.String(), events.String(), audit.String()
			if name != "as an argument" && name != "as the program" { // the pipeline's own words
				given["executor"] = fmt.Sprintf("%+v", x.Commands)
			}
			inJSON, _ := json.Marshal(secret)
			twice, _ := json.Marshal(string(inJSON))
			bare := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">")
			for what, text := range given {
				if strings.HasPrefix(name, "as ") && (what == "plan" || what == "diff") {
					continue // the pipeline itself contains the words
				}
				for _, form := range []string{secret, string(inJSON[1 : len(inJSON)-1]), string(twice[3 : len(twice)-3])} {
					if strings.Contains(bare.Replace(text), bare.Replace(form)) {
						t.Errorf("the secret is in the %s:\n%s", what, text)
						break
					}
				}
			}
		})
	}
}
