package feishu

// Decrypt is decrypt, for the platform's own vector and for fuzzing.
func Decrypt(sealed, encryptKey string) ([]byte, error) { return decrypt(sealed, encryptKey) }
