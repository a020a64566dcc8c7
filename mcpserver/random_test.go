package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// calls are valid messages of each kind. Random messages are made from them.
var calls = []string{
	`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"millrace://schema/pipeline"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"millrace://plans/0123456789/diff"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"millrace://backups/20261122_101502_9f3c2a7be1d04f58/diff"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_actions","arguments":{"action":"edit"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"history","arguments":{"limit":3}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"undo","arguments":{"backup_id":"20261122_101502_9f3c2a7be1d04f58","dry_run":true}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","arguments":{"mode":"Line","path":"src/a.txt","start_line":1,"end_line":2}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","arguments":{"mode":"Search","paths":["src"],"pattern":"e"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_write","arguments":{"command":"str_replace","path":"src/a.txt","old_str":"a","new_str":"b"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"apply_patch","arguments":{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"apply_plan","arguments":{"plan_id":"x","digest":"y"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"review_plan","arguments":{"plan_id":"x","reject":[{"path":"a","hunks":[0]}]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"batch_operations","arguments":{"pipeline_json":` + fixTypo + `},"_meta":{"progressToken":1}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plan_pipeline","arguments":{"pipeline_json":` + fixTypo + `,"diff":"stat"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_pipeline","arguments":{"steps":[{"tool":"search","args":{"pattern":"e"}}]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"src/a.txt","offset":1,"limit":2}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"MultiEdit","arguments":{"file_path":"src/a.txt","edits":[{"old_string":"a","new_string":"b"}]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","arguments":{"mode":"Glob","path":"src","pattern":"*.txt"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_write","arguments":{"command":"move","path":"src/a.txt","destination":"src/b.txt"}}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`,
	`{"jsonrpc":"2.0","id":1,"result":{}}`,
	`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"millrace://plans/{id}"},"argument":{"name":"id","value":"x"}}}`,
}

// hostileText are replacements for a text.
var hostileText = []string{
	"", "\x00", "\x1b[31m", "\u0080", "\u202e", "../../etc/passwd", "/", "~", ".git/config", "millrace://plans/\x07", "millrace://backups/\x00/diff",
	"{{find.files}}", "%s%n", "\u2028", "a\nb", `"}`, "1e999", "null", strings.Repeat("a/", 3_000), strings.Repeat("é", 70_000),
}

// mutated returns a message with one change: of a value, or of bytes of its text.
func mutated(r *rand.Rand, id int) string {
	text := calls[r.IntN(len(calls))]
	if r.IntN(20) == 0 {
		uri, _ := json.Marshal("millrace://" + hostileText[r.IntN(len(hostileText))])
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%s}}`, id, uri)
	}
	if r.IntN(3) > 0 {
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return text
		}
		for range 1 + r.IntN(3) {
			change(r, m)
		}
		if _, ok := m["id"]; ok && r.IntN(5) > 0 {
			m["id"] = id
		}
		data, err := json.Marshal(m)
		if err != nil {
			return text
		}
		text = string(data)
	}
	if r.IntN(3) == 0 {
		b := []byte(text)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(b) + 1)
			switch r.IntN(4) {
			case 0:
				b = append(b[:at:at], append([]byte{byte(r.IntN(256))}, b[at:]...)...)
			case 1:
				b = append(b[:at:at], b[min(len(b), at+1+r.IntN(20)):]...)
			case 2:
				b = append(b[:at:at], append([]byte(`\u00`+fmt.Sprintf("%02x", r.IntN(256))), b[at:]...)...)
			case 3:
				deep := 1 + r.IntN(3_000)
				b = append(b[:at:at], append([]byte(strings.Repeat("[", deep)+strings.Repeat("]", deep)), b[at:]...)...)
			}
		}
		text = string(b)
	}
	if r.IntN(10) == 0 {
		text = "[" + text + "," + calls[r.IntN(len(calls))] + "]"
	}
	// A line is a message, so no message contains a line end.
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
}

// change changes one of the values in an object.
func change(r *rand.Rand, m map[string]any) {
	names := slices.Sorted(maps.Keys(m)) // the order of a map does not depend on the seed
	if len(names) == 0 {
		m["\x00"] = "\x01"
		return
	}
	name := names[r.IntN(len(names))]
	if inside, ok := m[name].(map[string]any); ok && r.IntN(4) > 0 {
		change(r, inside)
		return
	}
	switch r.IntN(6) {
	case 0:
		delete(m, name)
	case 1:
		m[name] = []any{m[name], m[name]}
	case 2:
		m[name] = map[string]any{name: m[name]}
	case 3:
		m[name] = []any{nil, true, -1, 1e300, 0.5, 1 << 30}[r.IntN(6)]
	default:
		m[name] = hostileText[r.IntN(len(hostileText))]
	}
}

// samples returns the number of samples that MILLRACE_SAMPLES selects: see CONTRIBUTING.md.
func samples(t testing.TB, quick, full, torture int) int {
	t.Helper()
	said := os.Getenv("MILLRACE_SAMPLES")
	switch n, err := strconv.Atoi(said); {
	case err == nil && n > 0:
		return n * torture
	case said == "full" && !testing.Short():
		return full
	case said != "" && said != "quick" && said != "full":
		t.Fatalf("MILLRACE_SAMPLES is %q", said)
	}
	return quick
}

// seedOf returns the seed of random samples: always the same, or MILLRACE_SEED.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if said := os.Getenv("MILLRACE_SEED"); said != "" {
		var err error
		if seed, err = strconv.ParseUint(said, 10, 64); err != nil {
			t.Fatalf("MILLRACE_SEED: %v", err)
		}
	}
	t.Logf("MILLRACE_SEED=%d", seed)
	return seed
}

// Random messages end no server.
func TestRandomMessages(t *testing.T) {
	for name, open := range doors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seedOf(t), 1))
			d := open(t, tree(t, "-- src/a.txt --\nrecieve\n-- b.txt --\né\n"))
			for i := range samples(t, 400, 5_000, 200_000) {
				text := mutated(r, 10+2*i)
				d.send(text)
				alive(t, d, 11+2*i, text)
			}
		})
	}
}
