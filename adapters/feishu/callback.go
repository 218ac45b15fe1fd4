package feishu

import "net/http"

func (h *Handler) click(w http.ResponseWriter, r *http.Request, ev Event) {
	reply(w, http.StatusOK, struct{}{})
}
