package perfmodel

func collectiveModels() []Entry { return nil }
func quantizeModels() []Entry   { return nil }
func groupedModels() []Entry    { return nil }
func modulationModels() []Entry { return nil }
func resizeModels() []Entry     { return nil }
func reductionModels() []Entry  { return nil }
func gatherModels() []Entry     { return nil }
func fillModels() []Entry       { return nil }
