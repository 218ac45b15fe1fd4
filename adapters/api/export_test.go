package api

// Choose is how tokens are compared.
var Choose = choose

// Route is a call of the listener, as the tests see it.
type Route struct {
	Method, Path string
	Public       bool
	Roles        []Role
}

// Routes are all calls of the listener.
func Routes() []Route {
	var list []Route
	for _, r := range routes() {
		list = append(list, Route{r.method, r.path, r.public, r.roles})
	}
	return list
}

// Document is openapi.yaml.
var Document = document

// Answers are the errors that have an answer of their own.
func Answers() []error {
	var list []error
	for _, a := range answers {
		list = append(list, a.err)
	}
	return list
}

// ProblemOf is what outsiders hear of an error.
func ProblemOf(err error) (status int, code, title, detail string) {
	p := problemOf(err)
	return p.Status, p.Code, p.Title, p.Detail
}
