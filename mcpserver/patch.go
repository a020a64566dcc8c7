package mcpserver

import (
	"context"
	"encoding/json"
)

// applyPatch applies a patch in any of the formats of the action patch.
func applyPatch(ctx context.Context, c *call) (*answer, error) {
	var args map[string]json.RawMessage
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	var dryRun bool
	_ = json.Unmarshal(args["dry_run"], &dryRun)
	delete(args, "dry_run")
	params := make(map[string]any, len(args))
	for name, v := range args {
		params[name] = v
	}
	p, err := c.step("patch", params, dryRun)
	if err != nil {
		return nil, err
	}
	return c.change(ctx, p, reported)
}
