package scratch

import "github.com/millrace-go/millrace/internal/rootfs"

// Blur has a tree told less of what stands there, as on other systems. Call it before the first Renew.
func Blur(t *Tree, blur func(l *rootfs.Look)) { t.blur = blur }

// Fold has a tree take its file system for one that takes some names for one.
func Fold(t *Tree) { t.folds = true }
