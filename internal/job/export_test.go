package job

// OnSlice sets a function that is called after each slice.
func (e *Engine) OnSlice(fn func()) { e.sliced = fn }
