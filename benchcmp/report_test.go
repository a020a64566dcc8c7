package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func exampleReport() Report {
	return Report{
		Host: Host{
			Date: "2026-01-02 03:04 UTC", CPU: "Abacus", Cores: 2, Kernel: "linux 7", FileSystem: "ext4", Locale: "LANG=C", Go: "go1.26", Commit: "abc",
			Tools: map[string]string{"rg": "ripgrep 15.0.0 (/bin/rg)"},
		},
		Corpus: Digest{Files: 101_788, Bytes: 1_600_000_000}, Runs: 5, Warm: 1,
		Entries: []Entry{
			{Job: "search/literal", Outcome: Outcome{Versus: []Versus{{
				Job: "search/literal", Against: "rg a|b", Verified: "7 files", Goal: 0.85, GoalRSS: 32 << 20,
				Millrace: Usage{Wall: 1500 * time.Millisecond, CPU: 999 * time.Millisecond, RSS: 30 << 20}, Other: Usage{Wall: time.Second, CPU: time.Second, RSS: 8 << 20},
				Wall: Spread{1.5, 1.25, 1.75}, CPU: Spread{0.999, 0.9, 1.1},
			}}}},
			{Job: "memory/search", Outcome: Outcome{Figures: []Figure{{Job: "memory/search", What: "peak", Value: 12.4, Unit: "MiB", Goal: 32, Note: "note"}}}},
			{Job: "growth/search", Outcome: Outcome{Figures: []Figure{{Job: "growth/search", What: "growth", Value: 1.2, Unit: "exponent", Goal: 1.05}}}},
			{Job: "edit/commit", Skipped: "sed is not installed"},
		},
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const want = `Measured on 2026-01-02 03:04 UTC with go1.26, 2 processors (Abacus), linux 7, ext4, millrace at abc. 5 rounds after 1 to warm up; locale LANG=C.
The corpus has 101,788 files and 1,600 MB. rg: ripgrep 15.0.0.

| job | against | both found | millrace: wall, cpu, memory | other: wall, cpu, memory | wall ratio | cpu ratio | goal | met |
|---|---|---|---|---|---|---|---|---|
| search/literal | ${rg a\|b}$ | 7 files | 1.50 s, 999 ms, 30 MiB | 1.00 s, 1.00 s, 8 MiB | **1.50** (1.25–1.75) | **1.00** (0.90–1.10) | ≤ 0.85, ≤ 32 MiB | no |

| job | what | measured | goal | met | |
|---|---|---|---|---|---|
| memory/search | peak | 12 MiB | ≤ 32 | yes | note |
| growth/search | growth | exponent 1.20 | ≤ 1.05 | no |  |

Skipped: edit/commit: sed is not installed.
`
	var got strings.Builder
	exampleReport().markdown(&got)
	if diff := cmp.Diff(strings.NewReplacer("${", "`", "}$", "`").Replace(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestReportJSON(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	if err := exampleReport().write(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exampleReport(), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Mistakes in the flags are reported before anything is built or measured.
func TestFlags(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not-made")
	for _, args := range [][]string{{"-only", "("}, {"x"}, {"-runs", "0"}, {"-warm", "-1"}, {"-no-such-flag"}} {
		var out strings.Builder
		if err := dispatch(t.Context(), append([]string{"-corpus", dir}, args...), &out, &out); err == nil {
			t.Errorf("%q passed", args)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("something was built: %v", err)
	}
	var out strings.Builder
	if err := dispatch(t.Context(), []string{"-list"}, &out, &out); err != nil || !strings.Contains(out.String(), "edit/commit\n") {
		t.Errorf("the list is %q, %v", &out, err)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1_000: "1,000", 101_788: "101,788", 1_234_567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
