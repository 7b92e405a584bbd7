package router

// checkRule finds what only a whole rule shows.
func checkRule(r *Rule, f *faults) {
	for _, d := range r.dests {
		if d.name == nil || r.anyName {
			continue
		}
		if p, prefixed := d.name.firstField(); p != nil && !prefixed {
			f.add(p.at, `put literal text before it, as "kafka:events.{`+p.field.String()+`}", or say any_name=true`,
				"the topic's name begins with data, so a row could name any topic")
		}
	}
	if len(r.dests) == 0 && r.key != nil {
		f.add(r.keyAt, "remove it", `"drop" has no use for a key`)
	}
}

// checkRules finds what only all rules together show.
func checkRules(rules []*Rule, f *faults) {
	addConditions(rules)
	labels := make(map[string]*Rule, len(rules))
	for i, r := range rules {
		if before := shadowOf(rules[:i], r); before != nil {
			f.add(r.at, "move it up, or remove it", "this rule is never reached: the one at line %d (%s) takes all its events", before.Line, quote(before.Pattern))
		} else if before := labels[r.Name]; before != nil {
			f.add(r.nameAt, `give one of them another "name="`, "the label %s is also that of the rule at line %d", quote(r.Name), before.Line)
		}
		if labels[r.Name] == nil {
			labels[r.Name] = r
		}
	}
}

// shadowOf is the first earlier rule that leaves nothing for r.
func shadowOf(earlier []*Rule, r *Rule) *Rule {
	for _, e := range earlier {
		if e.shadows(r) {
			return e
		}
	}
	return nil
}

// addConditions makes the default labels of rules with one pattern differ, so
// that "* tenant=a" and the "*" behind it need no name.
func addConditions(rules []*Rule) {
	patterns := make(map[string]int, len(rules))
	for _, r := range rules {
		patterns[r.Pattern]++
	}
	for _, r := range rules {
		if !r.named && patterns[r.Pattern] > 1 {
			r.Name += r.condText
		}
	}
}
