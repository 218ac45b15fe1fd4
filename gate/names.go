package gate

import "fmt"

// names are the wire words of a closed set, indexed by its values. Index 0 is
// the refusing value's word.
type names []string

func (n names) word(i uint8) string {
	if int(i) < len(n) {
		return n[i]
	}
	return fmt.Sprintf("invalid(%d)", i)
}

func (n names) text(i uint8) ([]byte, error) {
	if int(i) < len(n) {
		return []byte(n[i]), nil
	}
	return nil, fmt.Errorf("no word for value %d of %v", i, []string(n))
}

func (n names) parse(b []byte, to *uint8) error {
	for i, w := range n {
		if w == string(b) {
			*to = uint8(i)
			return nil
		}
	}
	return fmt.Errorf("%q is none of %v", b, []string(n))
}
