package config

import "fmt"

// SecretSource is a secret that may stand in a file. It never prints its value.
// Goroutines may share it.
type SecretSource struct {
	value Secret
	file  string // read again each time
	name  string // of the variable that names the file
}

// Read gives the value, from the file as it is now where there is one. Errors
// name the setting and the path, never the content.
func (s SecretSource) Read() (string, error) {
	if s.file == "" {
		return s.value.Reveal(), nil
	}
	v, err := readValueFile(s.file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", s.name, err)
	}
	if v == "" {
		return "", fmt.Errorf("read %s: the file %q is empty", s.name, clip(s.file))
	}
	return v, nil
}

func secretSource(p *parser, e *environment, name string) SecretSource {
	v := p.text(name)
	if v == "" {
		return SecretSource{} // unset, or its file is at fault
	}
	return SecretSource{value: NewSecret(v), file: e.files[Prefix+name], name: Prefix + name + fileSuffix}
}
