// Package fleetlimits has the limits of a fleet that its schedulers and its store share. They cannot be configured.
package fleetlimits

const (
	CampaignLen = 255  // bytes of the id of a campaign
	IDLen       = 1024 // bytes of the id of a target
	RootLen     = 4096 // bytes of the root of a target
)

// NoPlan, in place of the digest of a plan, means that no plan was approved: a target that is not committed yet runs no
// step.
const NoPlan = "none"
