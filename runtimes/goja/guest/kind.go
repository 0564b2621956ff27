package guest

import (
	"reflect"

	"github.com/dop251/goja"
)

// kind is the kind of an object. kindOf determines it without executing code of the program and without copying the
// object.
type kind int

const (
	plainObject kind = iota
	arrayObject
	functionObject
	numberObject
	stringObject
	booleanObject
	bigintObject
	symbolObject
	rawJSONObject
	mapObject
	setObject
	weakObject
	promiseObject
	regExpObject
	errorObject
	dateObject
	bufferObject // ArrayBuffer
	bytesObject  // typed arrays
	viewObject   // DataView
	proxyObject
)

func kindOf(object *goja.Object) kind {
	switch t := object.ExportType(); t {
	case reflect.TypeFor[goja.Proxy]():
		return proxyObject
	case reflect.TypeFor[*goja.Promise]():
		return promiseObject
	case reflect.TypeFor[goja.ArrayBuffer]():
		return bufferObject
	case reflect.TypeFor[[][2]any]():
		return mapObject
	case reflect.TypeFor[[]any]():
		if object.ClassName() != "Array" {
			return setObject
		}
		return arrayObject
	default:
		if t != nil && t.Kind() == reflect.Slice && numeric(t.Elem().Kind()) {
			return bytesObject
		}
	}
	if k, ok := byClass(object.ClassName()); ok {
		return k
	}
	if _, ok := goja.AssertFunction(object); ok {
		return functionObject
	}
	return plainObject
}

func numeric(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
}

func byClass(class string) (kind, bool) {
	switch class {
	case "Object", "Function":
		return plainObject, false
	case "Array": // an array that a Go function created
		return arrayObject, true
	case "Number":
		return numberObject, true
	case "String":
		return stringObject, true
	case "Boolean":
		return booleanObject, true
	case "BigInt":
		return bigintObject, true
	case "Symbol":
		return symbolObject, true
	case "RawJSON":
		return rawJSONObject, true
	case "WeakMap", "WeakSet":
		return weakObject, true
	case "Promise":
		return promiseObject, true
	case "RegExp":
		return regExpObject, true
	case "Error":
		return errorObject, true
	case "Date":
		return dateObject, true
	case "ArrayBuffer":
		return bufferObject, true
	case "DataView":
		return viewObject, true
	}
	return plainObject, false
}

// target returns the object behind a proxy, also if proxies are nested. It returns nil for a revoked proxy.
func target(object *goja.Object) *goja.Object {
	for range 100 { // nested proxies
		proxy, ok := object.Export().(goja.Proxy)
		if !ok {
			return object
		}
		if object = proxy.Target(); object == nil || kindOf(object) != proxyObject {
			return object
		}
	}
	return nil
}
