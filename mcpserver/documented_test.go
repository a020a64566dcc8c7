package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/mcpserver"
)

// documented are the calls in other servers' documents, with their original arguments. The client of the TypeScript SDK
// makes the same calls.
type documented struct {
	Files map[string]string `json:"files"`
	Calls []struct {
		Name      string            `json:"name"`
		Tool      string            `json:"tool"`
		Arguments json.RawMessage   `json:"arguments"`
		Error     bool              `json:"error"`
		Text      []string          `json:"text"`
		Data      map[string]any    `json:"data"`
		Tree      map[string]string `json:"tree"`
		// Keep names values of the data, which later arguments refer to as {NAME}.
		Keep map[string]string `json:"keep"`
		// Until is the reason why a call may have to wait for the work of an earlier call.
		Until string `json:"until"`
	} `json:"calls"`
}

func readDocumented(t *testing.T) documented {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(clientsDir, "seeds.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d documented
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// tree returns the files as a text for millracetest.Tree. Each of them ends with a newline.
func (d documented) tree() string {
	text := ""
	for name, data := range d.Files {
		text += "-- " + name + " --\n" + data
	}
	return text
}

// at returns the value in data at a path of names and numbers, separated by dots.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			if i, err := strconv.Atoi(name); err != nil || i >= len(of) {
				return nil
			} else {
				v = of[i]
			}
		default:
			return nil
		}
	}
	return v
}

func TestDocumentedCalls(t *testing.T) {
	d := readDocumented(t)
	c := withRuns(t, mcpserver.Config{Aliases: true}, d.tree())
	kept := []string{"{root}", c.dir}
	for _, call := range d.Calls {
		t.Run(call.Name, func(t *testing.T) {
			c.t = t
			args := strings.NewReplacer(kept...).Replace(string(call.Arguments))
			r := c.call(call.Tool, args)
			for deadline := time.Now().Add(20 * time.Second); call.Until != "" && r.err && time.Now().Before(deadline); {
				time.Sleep(20 * time.Millisecond)
				r = c.call(call.Tool, args)
			}
			if r.err != call.Error {
				t.Fatalf("the answer is %s", r.text)
			}
			has(t, r.text, call.Text...)
			for path, want := range call.Data {
				if text, ok := want.(string); ok {
					want = strings.NewReplacer(kept...).Replace(text)
				}
				if got := at(r.data, path); !reflect.DeepEqual(got, want) {
					t.Errorf("%s is %v, not %v, in %v", path, got, want, r.data)
				}
			}
			for path, want := range call.Tree {
				if got, err := os.ReadFile(filepath.Join(c.dir, path)); string(got) != want {
					t.Errorf("%s is %q, %v", path, got, err)
				}
			}
			for name, path := range call.Keep {
				kept = append(kept, "{"+name+"}", fmt.Sprint(at(r.data, path)))
			}
		})
	}
}
