package guard

var TargetOf = targetOf
