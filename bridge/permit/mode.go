package permit

// mode is the session's mode as the last judge before the user.
//
//   - acceptEdits lets an edit through when it names files and all lie in the
//     region (H048);
//   - plan refuses edits and commands, and lets reads in the region through;
//   - bypassPermissions lets everything through that came this far (H049).
//
// A mode that we do not know is taken for default, which has no opinion.
func (e *Engine) mode(c *Card) Verdict {
	m := Default
	if e.Mode != nil {
		m = e.Mode()
	}
	v := Verdict{By: ByMode, Name: string(m)}
	switch m {
	case AcceptEdits:
		if c.Request.Kind == Edit && e.Place.inRegion(c) {
			v.Say, v.Why = Allow, "an edit inside the region"
		}
	case PlanMode:
		switch {
		case changes(c) || c.Request.Kind == Command:
			v.Say, v.Why = Refuse, "plan mode is read only: leave it to change files or run commands"
		case c.Request.Kind == Read && e.Place.inRegion(c):
			v.Say, v.Why = Allow, "a read inside the region"
		}
	case Bypass:
		v.Say, v.Why = Allow, "everything that no fence and no decider refuses"
	default:
	}
	return v
}
