package actions_test

import (
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// Three worked examples, step by step.

func TestWorkedFixTypo(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"src/a.txt": "I recieve\r\n", "src/b/c.txt": "recieve recieve", "src/d.txt": "no",
				"e.txt": "recieve"})
			b.must("find", actions.Search{Path: "./src", Pattern: "recieve"}, nil)
			out := b.must("fix", actions.Edit{OldText: "recieve", NewText: "receive"}, nil, "find")
			equal(t, "outcome", out, actions.Outcome{
				Files: []string{"src/a.txt", "src/b/c.txt"}, Counts: map[string]int{"src/a.txt": 1, "src/b/c.txt": 2}, Edits: 3,
			})
			b.wantTree(files{"src/a.txt": "I receive\r\n", "src/b/c.txt": "receive receive", "src/d.txt": "no", "e.txt": "recieve"})
			b.wantWarning()
		})
	}
}

func TestWorkedPreviewChanges(t *testing.T) {
	b := inMemory(t, files{"app.js": "f() {\n  console.log(\"a\");\n  return 1;\n}\n", "lib.js": "console.log(1)",
		"other.js": "log(1)"})
	b.must("find", actions.Search{Pattern: "console.log"}, nil)
	out := b.must("remove", actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: `\s*console\.log\([^)]*\);?\n?`}}}, nil, "find")
	equal(t, "counts", out.Counts, map[string]int{"app.js": 1, "lib.js": 1})
	b.wantTree(files{"app.js": "f() {  return 1;\n}\n", "lib.js": "", "other.js": "log(1)"})
}

func TestWorkedRenameClass(t *testing.T) {
	b := inMemory(t, files{"old.py": "class OldName:\n  x = OldName\n",
		"use.py": "from old import OldName\ny = OldName()\n", "no.py": "import x\n# OldName\n"})
	b.must("find-class", actions.Search{Pattern: "class OldName"}, nil)
	b.must("rename-class", actions.Edit{OldText: "OldName", NewText: "NewName"}, nil, "find-class")
	out := b.must("find-imports", actions.Search{Pattern: "import.*OldName"}, nil)
	if out.Mode != "regex" {
		t.Errorf("mode %q", out.Mode)
	}
	b.must("fix-imports", actions.Edit{OldText: "OldName", NewText: "NewName"}, nil, "find-imports")
	b.wantTree(files{"old.py": "class NewName:\n  x = NewName\n", "use.py": "from old import NewName\ny = NewName()\n", "no.py": "import x\n# OldName\n"})
}
