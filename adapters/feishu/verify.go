package feishu

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
)

// The signature headers (facts A.4).
const (
	headerTimestamp = "X-Lark-Request-Timestamp"
	headerNonce     = "X-Lark-Request-Nonce"
	headerSignature = "X-Lark-Signature"
)

// signed is what the signature headers say about a body.
type signed uint8

const (
	badlySigned signed = iota
	unsigned           // no signature header at all: a url_verification, or nothing
	wellSigned
)

// checkSignature verifies the signature over the raw, still encrypted body, in
// constant time: SHA-256 of timestamp, nonce, encrypt key and body (facts A.4).
// A header that is missing beside others, or repeated, is bad. Age is not
// looked at: the last retry comes 7 h later and may keep the old timestamp
// (FS-1), so replay is stopped by the dedupe keys.
func checkSignature(h http.Header, encryptKey string, body []byte) signed {
	ts, nonce, sig := h.Values(headerTimestamp), h.Values(headerNonce), h.Values(headerSignature)
	if len(ts)+len(nonce)+len(sig) == 0 {
		return unsigned
	}
	if len(ts) != 1 || len(nonce) != 1 || len(sig) != 1 {
		return badlySigned
	}
	sum := sha256.New()
	sum.Write([]byte(ts[0] + nonce[0] + encryptKey))
	sum.Write(body)
	want := hex.EncodeToString(sum.Sum(nil))
	if !equal(want, sig[0]) {
		return badlySigned
	}
	return wellSigned
}

// equal compares in constant time, whatever the lengths.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

var (
	errPlainBody = errors.New("body is not encrypted")
	errDecrypt   = errors.New("body does not decrypt")
)

// open takes the encrypted JSON out of a request's body. A plaintext body is
// refused, the challenge too (FS-1).
func open(body []byte, encryptKey string) ([]byte, error) {
	var sealed struct {
		Encrypt string `json:"encrypt"`
	}
	if err := json.Unmarshal(body, &sealed); err != nil || sealed.Encrypt == "" {
		return nil, errPlainBody
	}
	return decrypt(sealed.Encrypt, encryptKey)
}

// decrypt undoes Feishu's AES-256-CBC (facts A.3): the key is the SHA-256 of
// the encrypt key, the IV stands in front, the padding is PKCS#7 and checked in
// full. Anything that is not exactly that is errDecrypt. The SDK's EventDecrypt
// is not used: it panics on wrong keys and checks no padding (facts F21).
func decrypt(sealed, encryptKey string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < 2*aes.BlockSize || len(raw)%aes.BlockSize != 0 {
		return nil, errDecrypt
	}
	key := sha256.Sum256([]byte(encryptKey))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, errDecrypt
	}
	plain := make([]byte, len(raw)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, raw[:aes.BlockSize]).CryptBlocks(plain, raw[aes.BlockSize:])
	return unpad(plain)
}

// unpad checks every padding byte without branching on one of them.
func unpad(plain []byte) ([]byte, error) {
	n := int(plain[len(plain)-1])
	if n < 1 || n > aes.BlockSize {
		return nil, errDecrypt
	}
	var diff byte
	for _, b := range plain[len(plain)-n:] {
		diff |= b ^ byte(n)
	}
	if diff != 0 {
		return nil, errDecrypt
	}
	return plain[:len(plain)-n], nil
}
