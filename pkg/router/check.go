package router

import "slices"

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
	meanings := make([]meaning, 0, len(rules))
	for _, r := range rules {
		m := r.meaning()
		if i := slices.IndexFunc(meanings, func(e meaning) bool { return e.shadows(&m) }); i >= 0 {
			f.add(r.at, "move it up, or remove it", "this rule is never reached: the one at line %d (%s) takes all its events", rules[i].Line, quote(rules[i].Pattern))
		} else if before := labels[r.Name]; before != nil {
			f.add(r.nameAt, `give one of them another "name="`, "the label %s is also that of the rule at line %d", quote(r.Name), before.Line)
		}
		meanings = append(meanings, m)
		if labels[r.Name] == nil {
			labels[r.Name] = r
		}
	}
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
