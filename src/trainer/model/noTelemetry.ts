// onnxruntime's Linux builds send usage reports unless this is set before the library is loaded. Nothing leaves the machine.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
