package feishu
