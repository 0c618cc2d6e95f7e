import protobuf from 'protobufjs';

/** The messages of onnx.proto3 that a model needs, with the field numbers of the standard. */
const root = protobuf.parse(`
  syntax = "proto3";
  message Model { int64 ir_version = 1; string producer_name = 2; Graph graph = 7; repeated OperatorSet opset_import = 8; }
  message OperatorSet { string domain = 1; int64 version = 2; }
  message Graph {
    repeated Node node = 1; string name = 2; repeated Tensor initializer = 5;
    repeated ValueInfo input = 11; repeated ValueInfo output = 12;
  }
  message Node {
    repeated string input = 1; repeated string output = 2; string name = 3; string op_type = 4;
    repeated Attribute attribute = 5; string domain = 7;
  }
  message Attribute {
    string name = 1; float f = 2; int64 i = 3; bytes s = 4; repeated float floats = 7; repeated int64 ints = 8;
    int32 type = 20;
  }
  message Tensor {
    repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9;
    repeated Entry external_data = 13; int32 data_location = 14;
  }
  message Entry { string key = 1; string value = 2; }
  message ValueInfo { string name = 1; Type type = 2; }
  message Type { TensorType tensor_type = 1; }
  message TensorType { int32 elem_type = 1; TensorShape shape = 2; }
  message TensorShape { repeated Dimension dim = 1; }
  message Dimension { int64 dim_value = 1; string dim_param = 2; }
`).root;

export interface OnnxAttribute {
  readonly name: string;
  readonly type: number;
  readonly f?: number;
  readonly i?: number;
  readonly s?: Uint8Array;
  readonly ints?: readonly number[];
}
export interface OnnxNode {
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly name: string;
  readonly opType: string;
  readonly domain: string;
  readonly attribute: readonly OnnxAttribute[];
}
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly dataType: number;
  readonly rawData?: Uint8Array;
  /** Where the values lie that the model does not hold: by the name that they are given under when it is loaded. */
  readonly externalData?: readonly { readonly key: 'location'; readonly value: string }[];
  readonly dataLocation?: typeof externalLocation;
}
export interface OnnxValueInfo {
  readonly name: string;
  readonly type: {
    readonly tensorType: {
      readonly elemType: number;
      readonly shape: { readonly dim: readonly { readonly dimValue?: number; readonly dimParam?: string }[] };
    };
  };
}
export interface OnnxGraph {
  readonly name: string;
  readonly node: readonly OnnxNode[];
  readonly initializer: readonly OnnxTensor[];
  readonly input: readonly OnnxValueInfo[];
  readonly output: readonly OnnxValueInfo[];
}

/** Of a tensor whose values are outside of the model. */
export const externalLocation = 1;
/** Attribute types of the standard. */
export const attributeType = { float: 1, int: 2, string: 3, ints: 7 } as const;
/** Element types of the standard. */
export const elementType = { float32: 1, int32: 6, int64: 7, bool: 9, float16: 10 } as const;

/** Serializes a graph as a model of IR version 9, opset 20, with onnxruntime's own operators beside the standard's. */
export function encodeModel(graph: OnnxGraph): Uint8Array {
  const model = root.lookupType('Model');
  const opsetImport = [
    { domain: '', version: 20 },
    { domain: 'com.microsoft', version: 1 },
  ];
  return model.encode(model.fromObject({ irVersion: 9, producerName: 'whetstone', graph, opsetImport })).finish();
}
