package actions

import (
	"path"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
)

// patchView is the places of the files while the sections of a patch are computed.
type patchView struct {
	commit int                   // the present commit, from 1
	now    map[string]*patchNode // by place; a node that does not live means that the file is gone
	was    map[string]*patchNode // the node before the present commit, at changed places; nil is the stage
}

func newPatchView() patchView {
	return patchView{commit: 1, now: make(map[string]*patchNode), was: make(map[string]*patchNode)}
}

// goneNode returns the node of a place whose file is gone.
func goneNode() *patchNode { return &patchNode{} }

// lives reports whether the file exists and the patch has not removed it.
func (n *patchNode) lives() bool { return n != nil && (n.place != "" || n.copyOf != "" || n.made) }

// before returns the node at a place before the present commit, nil for the file of the stage.
func (v *patchView) before(place string) *patchNode {
	if node, ok := v.was[place]; ok {
		return node
	}
	return v.now[place]
}

// load adds a file of the stage, which existed before the present commit.
func (v *patchView) load(node *patchNode) {
	if was, ok := v.was[node.place]; ok && was == nil {
		v.was[node.place] = node
		return
	}
	v.now[node.place] = node
}

// put puts a file at a place.
func (v *patchView) put(place string, node *patchNode) {
	if _, ok := v.was[place]; !ok {
		v.was[place] = v.now[place]
	}
	v.now[place] = node
}

// leave records that a file has left its place, unless another file is there already.
func (v *patchView) leave(node *patchNode) {
	if v.now[node.final] == node {
		v.put(node.final, goneNode())
	}
}

// begin begins the next commit. If this commit has put a file where the stage has another file, the file may not move
// on from there.
func (w *patching) begin() {
	for place, was := range w.view.was {
		if now := w.view.now[place]; was == nil && now.lives() && now.place != place && w.blocked(place) {
			now.over = place
		}
	}
	w.view.commit++
	clear(w.view.was)
}

// blocked reports whether the tree after the present commit has no room for a file at a new place: the stage has
// something there that the patch has not removed, or a file or a link above it.
func (w *patching) blocked(place string) bool {
	for i, c := range place {
		if dir := place[:i]; c == '/' && i > 0 {
			switch kind, err := kindAt(w.c, dir); {
			case err != nil:
				return true
			case kind != change.Dir: // nothing of the stage is below it
				return kind != change.Absent && w.view.stays(dir)
			}
		}
	}
	switch kind, err := kindAt(w.c, place); {
	case err != nil:
		return true
	case kind == change.Dir:
		return w.inhabited(place)
	default:
		return kind != change.Absent
	}
}

// stays reports whether a file of the stage is still in its place, and no other file of the patch is there.
func (v *patchView) stays(place string) bool {
	now, known := v.now[place]
	return !known || now.place == place && now.copyOf == ""
}

// inhabited reports whether a directory of the stage has a file that the patch has not removed.
func (w *patching) inhabited(dir string) bool {
	for dirs := []string{dir}; len(dirs) > 0; {
		last := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		entries, err := afero.ReadDir(w.c.FS, last)
		if err != nil {
			return true
		}
		for _, e := range entries {
			name := path.Join(last, e.Name())
			if e.IsDir() {
				dirs = append(dirs, name)
			} else if w.view.stays(name) {
				return true
			}
		}
	}
	return false
}

// take records that a section of the present commit works on a file, and the content of the file before.
func (w *patching) take(node *patchNode) {
	if node.taken != w.view.commit {
		node.taken, node.was = w.view.commit, node.patchText
	}
}

// copied returns a copy of a file in the state before the present commit.
func (w *patching) copied(node *patchNode, target string) *patchNode {
	n := &patchNode{place: node.place, copyOf: node.place, final: target, link: node.link, patchText: node.patchText}
	if node.taken == w.view.commit {
		n.patchText = node.was
	}
	if n.link || node.made {
		n.place, n.copyOf, n.made, n.retext = "", "", true, false
	}
	return n
}
