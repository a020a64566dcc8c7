package fleet

const MaxLabels = maxLabels
